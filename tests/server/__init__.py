"""A stand-in for a model server: the embedded engines behind OpenAI's protocol, misbehaving on demand."""

from server.app import StandIn, serving
from server.faults import CHAT_FAULTS, EMBEDDING_FAULTS, HTTP_FAULTS

__all__ = ["CHAT_FAULTS", "EMBEDDING_FAULTS", "HTTP_FAULTS", "StandIn", "serving"]
