"""The one way from a sandbox to its model: a Unix socket whose other end adds the key.

The agent and its shell commands never hold the key, and reach nothing but the paths of a model's API.
"""

import http.client
import os
import socketserver
import ssl
import tempfile
import threading
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from types import TracebackType
from urllib.parse import urlsplit

from lmev2.agent.interface import AgentSetupError

PATHS = ("/responses", "/chat/completions", "/completions", "/messages", "/models")
_NOT_PASSED_ON = frozenset(
    {"host", "authorization", "x-api-key", "connection", "transfer-encoding", "content-length", "keep-alive"}
)
_MOST_BYTES = 64_000_000  # of one request
_READ_TIMEOUT_S = 600


class ModelProxy:
    """Passes requests for `/v1/…` on to an OpenAI-compatible server, streaming.

    Args:
        base_url: of the server, as for any OpenAI client (`https://host/v1`).
        api_key_env: name of the environment variable with the key; None: none is sent.

    Attributes:
        socket: path of the Unix socket, once entered.
        fault: why the last request was not answered; "" if it was.
        calls: requests passed on.

    Raises:
        AgentSetupError: no server is named, or the variable is not set.
    """

    def __init__(self, base_url: str | None, api_key_env: str | None) -> None:
        if not base_url:
            raise AgentSetupError("models.agent.base_url: missing; name the server of the agent's model")
        self._url = urlsplit(base_url.rstrip("/"))
        if self._url.scheme not in ("http", "https") or not self._url.hostname:
            raise AgentSetupError(f"models.agent.base_url: {base_url!r} is no http(s) address")
        self._key = os.environ.get(api_key_env, "") if api_key_env else ""
        if api_key_env and not self._key:
            raise AgentSetupError(
                f"models.agent.api_key_env: the environment variable {api_key_env} is not set"
            )
        self.fault = ""
        self.calls = 0

    def __enter__(self) -> "ModelProxy":
        self._folder = tempfile.TemporaryDirectory(prefix="lmev2-model-")
        self.socket = str(Path(self._folder.name) / "model.sock")
        self._server = _Server(self.socket, _handler(self))
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._folder.cleanup()

    def connect(self) -> http.client.HTTPConnection:
        """A new connection to the server."""
        address = (self._url.hostname, self._url.port)
        if self._url.scheme == "http":
            return http.client.HTTPConnection(*address, timeout=_READ_TIMEOUT_S)
        return http.client.HTTPSConnection(
            *address, timeout=_READ_TIMEOUT_S, context=ssl.create_default_context()
        )

    def target(self, path: str) -> str | None:
        """The server's path for a path asked of the proxy; None if it is not passed on."""
        path, _, query = path.partition("?")
        path = path.removeprefix("/v1")
        return f"{self._url.path}{path}{'?' * bool(query)}{query}" if path in PATHS else None

    def headers(self, given: http.client.HTTPMessage) -> dict[str, str]:
        """The agent's headers with the key in place of whatever it sent."""
        headers = {name: value for name, value in given.items() if name.lower() not in _NOT_PASSED_ON}
        return {**headers, **({"Authorization": f"Bearer {self._key}"} if self._key else {})}


class _Server(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: object, client_address: object) -> None:
        """An agent that hangs up is no event."""


def _handler(proxy: ModelProxy) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            target = proxy.target(self.path)
            length = int(self.headers.get("content-length") or 0)
            if target is None or not 0 <= length <= _MOST_BYTES:
                self.send_error(403, "not passed on")
                return
            body = self.rfile.read(length)
            proxy.calls += 1
            connection = proxy.connect()
            try:
                connection.request(self.command, target, body or None, proxy.headers(self.headers))
                response = connection.getresponse()
            except OSError as error:
                proxy.fault = f"{type(error).__name__}: {error}"
                self.send_error(502, "the model's server cannot be reached")
                return
            settled = response.status < 500 and response.status not in (401, 403, 404, 408, 429)
            proxy.fault = "" if settled else f"HTTP {response.status} {response.reason}"
            self.send_response_only(response.status, response.reason)
            for name, value in response.getheaders():
                if name.lower() not in ("connection", "transfer-encoding", "keep-alive"):
                    self.send_header(name, value)
            self.send_header("Connection", "close")
            self.end_headers()
            while chunk := response.read1(65536):
                self.wfile.write(chunk)
                self.wfile.flush()
            connection.close()

        do_GET = do_POST

        def log_message(self, *_: object) -> None:
            """Nothing on the screen."""

        def address_string(self) -> str:
            return "sandbox"

    return Handler
