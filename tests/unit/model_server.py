"""A local server that plays the model of a coding agent from a script, in both protocols.

Responses (Codex) and chat completions (the Agents SDK). A script is a list of shell commands, after which
the model says that it is done; HANG in place of a command never answers. Stateless: the turn is the
number of tool results that a request holds, so any number of sessions run side by side.
"""

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

HANG = object()
DONE = "Done."


class ModelServer(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, script, status=200):
        self.script, self.status = script, status
        self.requests = []  # (path, headers, body)
        self.stopped = threading.Event()
        super().__init__(("127.0.0.1", 0), _Handler)

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}/v1"

    def handle_error(self, request, client_address):
        pass


@contextmanager
def model_server(script, status=200):
    server = ModelServer(script, status)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield server
    finally:
        server.stopped.set()
        server.shutdown()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.requests.append((self.path, headers, body))
        if self.server.status != 200:
            self._send(self.server.status, "application/json", b'{"error": {"message": "not today"}}')
        elif self.path == "/v1/responses":
            turn = sum(item.get("type") == "function_call_output" for item in body["input"])
            self._responses(turn)
        elif self.path == "/v1/chat/completions":
            turn = sum(message["role"] == "tool" for message in body["messages"])
            self._chat(turn, body)
        else:
            self._send(404, "application/json", b"{}")

    def _step(self, turn):
        script = self.server.script
        step = script[turn] if turn < len(script) else None
        if step is HANG:
            self.server.stopped.wait(60)
        return step

    def _responses(self, turn):
        step = self._step(turn)
        if step is None:
            item = {"type": "message", "role": "assistant", "id": "m"}
            item["content"] = [{"type": "output_text", "text": DONE, "annotations": []}]
        else:
            arguments = json.dumps({"cmd": step})
            item = {"type": "function_call", "id": f"f{turn}", "call_id": f"c{turn}", "name": "exec_command"}
            item["arguments"] = arguments
        usage = {"input_tokens": 1000, "output_tokens": 50, "total_tokens": 1050}
        usage |= {
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens_details": {"reasoning_tokens": 0},
        }
        response = {"id": f"r{turn}", "status": "completed", "output": [item], "usage": usage}
        events = [
            {"type": "response.created", "response": {"id": f"r{turn}"}},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": response},
        ]
        text = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
        self._send(200, "text/event-stream", text.encode())

    def _chat(self, turn, body):
        step = self._step(turn)
        message = {"role": "assistant", "content": DONE}
        if step is not None:
            call = {"name": "shell", "arguments": json.dumps({"command": step})}
            message = {"role": "assistant", "content": None}
            message["tool_calls"] = [{"id": f"c{turn}", "type": "function", "function": call}]
        choice = {"index": 0, "message": message, "finish_reason": "stop" if step is None else "tool_calls"}
        reply = {
            "id": "x",
            "object": "chat.completion",
            "created": 0,
            "model": body["model"],
            "choices": [choice],
        }
        reply["usage"] = {"prompt_tokens": 1000, "completion_tokens": 50, "total_tokens": 1050}
        self._send(200, "application/json", json.dumps(reply).encode())

    def _send(self, status, kind, data):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
