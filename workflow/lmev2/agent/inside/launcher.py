"""Runs inside the sandbox, around the agent: starts it, offers it its model, hands out what it wrote.

    python -I launcher.py SPEC        SPEC is JSON:
      command     the agent's command; null: serve shell commands from stdin instead
      environment variables added to the agent's environment
      collect     file name -> most bytes to hand out, for files of the working folder
      result_fd   where the collected files go at the end, as JSON
      model       path of a Unix socket; what connects to 127.0.0.1:@MODEL_PORT@ is passed on to it

`@MODEL_PORT@` in the command and the environment is replaced by the port. The sandbox has a network of
its own with nothing on it, so this port is all that an agent can reach; the key is added outside.
"""

import base64
import contextlib
import json
import os
import signal
import socket
import stat
import subprocess
import sys
import threading
import time

_running: list = []  # the shell command in progress


def main() -> int:
    """Run one agent, or serve its shell commands; returns the exit code."""
    spec = json.loads(sys.argv[1])
    threading.Thread(target=_die_with_parent, args=(os.getppid(),), daemon=True).start()
    port = str(_relay(spec["model"])) if spec["model"] else ""
    environment = {name: _with_port(value, port) for name, value in spec["environment"].items()}
    os.environ.update(environment)
    if spec["command"] is None:
        code = serve()
    else:
        command = [_with_port(word, port) for word in spec["command"]]
        try:
            code = subprocess.run(command, stdin=subprocess.DEVNULL, check=False).returncode
        except OSError as error:
            print(f"the agent cannot be started: {error}", file=sys.stderr)
            code = 127
    files = {name: collect(name, most) for name, most in spec["collect"].items()}
    with os.fdopen(spec["result_fd"], "w") as result:
        json.dump(files, result)
    return code if code >= 0 else 128 - code


def _with_port(text: str, port: str) -> str:
    return text.replace("@MODEL_PORT@", port)


def collect(name: str, most: int) -> dict:
    """A file of the working folder: its bytes in base 64, or why there are none.

    A link is not followed and nothing but a regular file is read: it must be the agent's own words.
    """
    try:
        # Not blocking: a named pipe must not hold the launcher up.
        handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return {"fault": "was not written"}
    except OSError as error:
        return {"fault": f"cannot be read ({error.strerror}); it must be a plain file"}
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return {"fault": "is not a plain file"}
        with os.fdopen(handle, "rb", closefd=False) as file:
            data = file.read(most + 1)
    finally:
        os.close(handle)
    if len(data) > most:
        return {"fault": f"is larger than {most} bytes"}
    return {"data": base64.b64encode(data).decode()}


def serve() -> int:
    """Run the shell commands that come in as JSON lines, one at a time, until the input ends.

    In: {"command", "timeout_s", "most_bytes"}. Out: {"exit_code" (null: out of time), "output", "cut"}.
    """
    signal.signal(signal.SIGTERM, _terminated)
    for line in sys.stdin:
        request = json.loads(line)
        reply = shell(request["command"], request["timeout_s"], request["most_bytes"])
        print(json.dumps(reply), flush=True)
    return 0


def shell(command: str, timeout_s: float, most_bytes: int) -> dict:
    """Run one shell command in a process group of its own; its output is kept to `most_bytes`."""
    process = subprocess.Popen(
        ["/bin/sh", "-c", command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    kept = bytearray()
    total = [0]

    def drain() -> None:
        while chunk := os.read(process.stdout.fileno(), 65536):
            total[0] += len(chunk)
            kept.extend(chunk[: max(0, most_bytes - len(kept))])

    _running.append(process)
    reader = threading.Thread(target=drain, daemon=True)
    reader.start()
    try:
        code = process.wait(timeout_s)
    except subprocess.TimeoutExpired:
        code = None
    _kill(process)  # nothing that it started outlives it
    process.wait()
    _running.clear()
    reader.join(1)
    output = bytes(kept).decode("utf-8", "replace")
    return {"exit_code": code, "output": output, "cut": max(0, total[0] - len(kept))}


def _kill(process: subprocess.Popen) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def _terminated(*_: object) -> None:
    for process in _running:
        _kill(process)
    os._exit(143)


def _die_with_parent(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(0.5)
    os.killpg(0, signal.SIGKILL)


def _relay(path: str) -> int:
    """Pass connections to a port of the loopback on to the Unix socket `path`; returns the port."""
    server = socket.create_server(("127.0.0.1", 0))

    def accept() -> None:
        while True:
            client, _ = server.accept()
            model = socket.socket(socket.AF_UNIX)
            model.connect(path)
            for source, sink in ((client, model), (model, client)):
                threading.Thread(target=_pump, args=(source, sink), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    return server.getsockname()[1]


def _pump(source: socket.socket, sink: socket.socket) -> None:
    try:
        while data := source.recv(65536):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)
    except OSError:  # either side hung up; the other sees its end
        sink.close()


if __name__ == "__main__":
    sys.exit(main())
