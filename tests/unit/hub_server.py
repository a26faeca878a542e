"""A Hugging Face hub on this machine: one dataset repository whose files a test writes and spoils."""

import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

REPO = "someone/some-dataset"
REVISION = "0123456789abcdef0123456789abcdef01234567"


@dataclass
class HubServer:
    """What the hub has, how it fails, and what it was asked.

    Attributes:
        files: content by path.
        cut: path -> how many bytes of each reply arrive before the connection breaks.
        breaks: path -> how often that happens; for ever if it is not here.
        ignores_ranges: the hub sends a file whole even if only its end is asked for.
        requests: (method, path, Range header or "") in order.
    """

    files: dict[str, bytes]
    cut: dict[str, int] = field(default_factory=dict)
    breaks: dict[str, int] = field(default_factory=dict)
    ignores_ranges: bool = False
    requests: list[tuple[str, str, str]] = field(default_factory=list)
    endpoint: str = ""

    def asked(self, path: str) -> list[str]:
        """The ranges of the requests for a file's content."""
        return [part for method, name, part in self.requests if method == "GET" and name == path]


@contextmanager
def serving(files: dict[str, bytes]) -> Iterator[HubServer]:
    """A hub that listens on a free port of this machine until the block ends."""
    hub = HubServer(files)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_):
            pass

        def do_HEAD(self):
            self.reply()

        def do_GET(self):
            self.reply()

        def reply(self):
            prefix = f"/datasets/{REPO}/resolve/{REVISION}/"
            path = self.path.removeprefix(prefix)
            part = self.headers.get("Range", "")
            hub.requests.append((self.command, path, part))
            data = hub.files.get(path) if self.path.startswith(prefix) else None
            if data is None:
                self.send_response(404)
                self.send_header("X-Error-Code", "EntryNotFound")
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            start = int(part.removeprefix("bytes=").removesuffix("-")) if part else 0
            start = 0 if hub.ignores_ranges else start
            self.send_response(206 if start else 200)
            if start:
                self.send_header("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}")
            self.send_header("X-Repo-Commit", REVISION)
            self.send_header("ETag", f'"{hashlib.sha256(data).hexdigest()}"')
            self.send_header("Content-Length", str(len(data) - start))
            self.end_headers()
            if self.command == "GET":
                body = data[start:]
                if path in hub.cut and hub.breaks.get(path, 1) > 0:
                    hub.breaks[path] = hub.breaks.get(path, 10**6) - 1
                    body = body[: hub.cut[path]]
                    self.close_connection = True
                self.wfile.write(body)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    hub.endpoint = f"http://127.0.0.1:{server.server_port}"
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
