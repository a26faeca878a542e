"""The interface: a base class, a registry by memory type, a factory."""

import threading
from abc import ABC, abstractmethod

MEMORY_TYPES = {}


def register_memory(cls):
    MEMORY_TYPES[cls.memory_type] = cls
    return cls


def build_memory(config):
    return MEMORY_TYPES[config["memory_type"]](config["memory_params"])


class Memory(ABC):
    memory_type = ""

    def __init__(self, memory_params):
        self.memory_params = memory_params
        self._local = threading.local()

    @abstractmethod
    def insert(self, trajectory): ...

    @abstractmethod
    def query(self, query, query_image=None): ...

    def configure_runtime(self, **values):
        return None

    def post_query_hook(self, *, query, query_image, memory_context):
        return None

    def set_query_context(self, **values):
        self._local.context = values

    def clear_query_context(self):
        self._local.context = {}

    def get_query_context(self):
        return dict(getattr(self._local, "context", {}))


# As in the original: the base module imports its backends last, so that it must be imported first.
from . import recorder  # noqa: E402, F401
