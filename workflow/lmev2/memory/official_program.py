"""A memory backend of the official harness, in a process of its own that runs with the backend's interpreter.

Started by `lmev2.memory.official_process` as `python official_program.py SOCKET CHECKOUT`. It needs the
standard library of Python 3.9 or newer and nothing else: the backend's environment need not have this
package.

Requests and replies are lines of JSON on the inherited socket SOCKET; what the backend prints goes elsewhere
and can disturb nothing. A request has a number `n` and what to do in `do`:

    start   import and build the backend, `configure_runtime`
    insert  one trajectory
    query   one question: its context, its post-query metadata, the seconds of both
    cancel  set the event that `configure_runtime` was given; no reply

The reply has the same number, and `error` where the backend failed.
"""

import sys

if __name__ == "__main__":
    sys.path[0] = sys.argv[2]  # not the folder of this file: its modules could hide the backend's

import asyncio
import importlib
import inspect
import json
import os
import queue
import signal
import socket
import threading
import time
import traceback
from pathlib import Path

PATH_ARGUMENTS = ("query_trace_dir",)  # of configure_runtime: the harness gives Path objects
HOOKS = ("configure_runtime", "set_query_context", "clear_query_context", "post_query_hook")


class UnfitError(Exception):
    """The backend does not have the harness's interface; the message says what is missing."""


class Program:
    """Answers requests: inserts in the main thread, queries there too as long as it is free.

    A backend that is asked one question at a time never sees a second thread.
    """

    def __init__(self, connection):
        self.connection = connection
        self.memory = None
        self.cancelled = threading.Event()
        self.requests = queue.Queue()
        self.sending = threading.Lock()
        self.state = threading.Lock()
        self.main_is_free = True

    def run(self):
        """Answer until the other side closes the socket."""
        threading.Thread(target=self.read, daemon=True).start()
        while True:
            reply = self.reply_to(self.requests.get())
            with self.state:  # before the reply, which may bring the next request
                self.main_is_free = self.requests.empty()
            self.send(reply)

    def read(self):
        """Take in requests; when there are no more, end at once with all that the backend has started."""
        with self.connection.makefile("r", encoding="utf-8", newline="\n") as lines:
            for line in lines:
                request = json.loads(line)
                if request["do"] == "cancel":
                    self.cancelled.set()
                    continue
                with self.state:
                    to_main = self.main_is_free or request["do"] != "query"
                    self.main_is_free = self.main_is_free and not to_main
                    if to_main:
                        self.requests.put(request)
                if not to_main:
                    threading.Thread(target=self.reply_aside, args=(request,), daemon=True).start()
        os.killpg(os.getpgrp(), signal.SIGKILL)

    def reply_aside(self, request):
        """Reply in a thread of its own."""
        self.send(self.reply_to(request))

    def reply_to(self, request):
        """Do what is asked; whatever the backend raises is the reply."""
        try:
            reply = getattr(self, request["do"])(request) or {}
        except UnfitError as error:
            reply = {"error": str(error)}
        except BaseException as error:
            words = {"error": described(error), "traceback": traceback.format_exc()}
            reply = {key: text.encode("utf-8", "backslashreplace").decode() for key, text in words.items()}
        return {"n": request["n"], **reply}

    def send(self, reply):
        """Send one reply."""
        line = json.dumps(reply, default=str) + "\n"
        with self.sending:
            self.connection.sendall(line.encode())

    def start(self, request):
        """Import, build, configure."""
        self.memory = build(request)
        for name in ("insert", "query"):
            if not callable(getattr(self.memory, name, None)):
                raise UnfitError(f"the class {type(self.memory).__name__} has no method {name}")
        runtime = {
            key: Path(value) if key in PATH_ARGUMENTS and value is not None else value
            for key, value in request["runtime"].items()
        }
        self.hook("configure_runtime", cancel_event=self.cancelled, **runtime)

    def insert(self, request):
        """Insert one trajectory."""
        settled(self.memory.insert(request["trajectory"]))

    def query(self, request):
        """Ask one question; the hook after it is timed apart, as the harness does."""
        text, image = request["text"], request["image"]
        self.hook("set_query_context", question_id=request["handle"])
        try:
            began = time.perf_counter()
            context = checked(settled(ask(self.memory.query, text, image)))
            seconds = time.perf_counter() - began
            after = time.perf_counter()
            given = [dict(item) for item in context]
            metadata = self.hook("post_query_hook", query=text, query_image=image, memory_context=given)
            post_query_s = time.perf_counter() - after
            # What JSON has no word for is kept as text, half characters (lone surrogates) as question marks.
            text = json.dumps(metadata, default=str, ensure_ascii=False).encode("utf-8", "replace")
            metadata = json.loads(text, parse_constant=str)
        finally:
            self.hook("clear_query_context")
        return {"context": context, "seconds": seconds, "metadata": metadata, "post_query_s": post_query_s}

    def hook(self, name, **values):
        """Call an optional method with those of `values` that it takes."""
        function = getattr(self.memory, name, None)
        return settled(function(**accepted(function, values))) if callable(function) else None


def build(setup):
    """The backend that a request describes: by its memory type, or by module and class."""
    # The harness's base module imports its backends, so it goes first: the other way round fails.
    base = importlib.import_module(setup["base"])
    module = importlib.import_module(setup["module"]) if setup["module"] else base
    if setup["class"]:
        cls, parent = getattr(module, setup["class"], None), getattr(base, "Memory", None)
        if not isinstance(cls, type):
            raise UnfitError(f"the module {setup['module']} has no class {setup['class']!r}")
        if isinstance(parent, type) and not issubclass(cls, parent):
            raise UnfitError(f"the class {setup['class']} does not subclass {setup['base']}.Memory")
        return cls(setup["params"])
    types = getattr(base, "MEMORY_TYPES", None)
    if not isinstance(types, dict):
        raise UnfitError(
            f"the module {setup['base']} has no MEMORY_TYPES to look {setup['memory_type']!r} up in; "
            "name `module` and `class` instead"
        )
    if setup["memory_type"] not in types:
        known = ", ".join(sorted(map(str, types))) or "none"
        raise UnfitError(
            f"there is no memory type {setup['memory_type']!r}; registered are {known}; name the `module` "
            "that registers it"
        )
    make = getattr(base, "build_memory", None)
    if callable(make):
        return make({"memory_type": setup["memory_type"], "memory_params": setup["params"]})
    return types[setup["memory_type"]](setup["params"])


def ask(query, text, image):
    """Call `query`; a backend of its own may name its second parameter otherwise, or have none."""
    parameters = parameters_of(query)
    if parameters is None or takes(parameters, "query_image"):
        return query(text, query_image=image)
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return query(text, image) if len(positional) > 1 else query(text)


def accepted(function, values):
    """Those of `values` that `function` takes by name."""
    parameters = parameters_of(function)
    return {name: value for name, value in values.items() if parameters is None or takes(parameters, name)}


def takes(parameters, name):
    """Whether a parameter `name`, or one for all names, is among `parameters`."""
    return any(
        p.kind == p.VAR_KEYWORD or (p.name == name and p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD))
        for p in parameters
    )


def parameters_of(function):
    """The parameters of a function, None where they cannot be known."""
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return None


def settled(value):
    """The result of a coroutine, or the value itself."""
    return asyncio.run(value) if inspect.iscoroutine(value) else value


def checked(context):
    """A context of the harness's form, images as absolute paths."""
    if not isinstance(context, list):
        raise UnfitError(f"query returned {type(context).__name__}, not a list of items")
    items = []
    for number, item in enumerate(context):
        if not isinstance(item, dict) or item.get("type") not in ("text", "image"):
            raise UnfitError(f'query: item {number} is not {{"type": "text" or "image", "value": …}}')
        value = str(item["value"]) if isinstance(item.get("value"), Path) else item.get("value")
        if not isinstance(value, str) or not value.strip():
            raise UnfitError(f"query: item {number} has no text in `value`")
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise UnfitError(f"query: item {number} holds a lone surrogate, which is no character") from error
        if item["type"] == "image":
            if "\0" in value or not Path(value).is_file():
                raise UnfitError(f"query: item {number}: there is no image {value!r}")
            value = str(Path(value).absolute())
        items.append({"type": item["type"], "value": value})
    return items


def described(error):
    """An error in one line: its type, its words, and the line that raised it."""
    words = f"{type(error).__name__}: {error}"
    own = ("<frozen", importlib.__file__, __file__)
    frames = [f for f in traceback.extract_tb(error.__traceback__) if not f.filename.startswith(own)]
    if isinstance(error, SyntaxError) or not frames:
        return words
    return f"{words} ({frames[-1].filename}, line {frames[-1].lineno})"


if __name__ == "__main__":
    # Not inheritable: a program that the backend starts must not keep the socket open.
    os.set_inheritable(int(sys.argv[1]), False)
    Program(socket.socket(fileno=int(sys.argv[1]))).run()
