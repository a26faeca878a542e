"""A backend that writes down all that it is given, and misbehaves when the question says so."""

import json
import os
import shutil
import sys
import threading
import time
from pathlib import Path

from .memory import Memory, register_memory

WORDS = Path(__file__).with_name("words.txt").read_text().split()


@register_memory
class Recorder(Memory):
    """Parameters: `log`, a file; `states`, how many newest states its contexts have."""

    memory_type = "recorder"

    def __init__(self, memory_params):
        super().__init__(memory_params)
        self.states = []
        self.note("built", params=memory_params)

    def note(self, what, **values):
        with Path(self.memory_params["log"]).open("a") as log:
            log.write(json.dumps({"what": what, "pid": os.getpid(), **values}, default=str) + "\n")

    def configure_runtime(self, **values):
        self.note("configured", values=values)

    def insert(self, trajectory):
        print("this is no reply", flush=True)
        print('{"n": 1, "error": "nor is this"}')
        self.note(
            "inserted", trajectory=trajectory, main=threading.current_thread() is threading.main_thread()
        )
        if trajectory["goal"] == self.memory_params.get("refuses"):
            raise ValueError(f"cannot take {trajectory['id']}")
        self.states += trajectory["states"]

    def query(self, query, query_image=None):
        main = threading.current_thread() is threading.main_thread()
        self.note("asked", query=query, image=query_image, context=self.get_query_context(), main=main)
        word = next((word for word in WORDS if f"#{word}" in query), "")
        if word == "raises":
            raise KeyError("no such page")
        if word == "exits":
            print("I have had enough", file=sys.stderr)
            os._exit(3)
        if word == "quits":
            sys.exit(4)
        if word == "hangs":
            time.sleep(600)
        if word == "sleeps":
            time.sleep(0.2)
        if word == "wrong":
            return ["text"]
        if word == "draws":
            return [{"type": "image", "value": self.memory_params["picture"]}]
        items = []
        for state in self.states[-self.memory_params.get("states", 2) :]:
            items.append({"type": "text", "value": state["accessibility_tree"] or "(no tree)"})
            if state["screenshot"] and Path(state["screenshot"]).exists():
                items.append({"type": "image", "value": self.picture(state["screenshot"], word)})
        return items

    def picture(self, path, word):
        if word != "copies":
            return path
        copy = Path(self.memory_params["place"], "copy.png")
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, copy)
        return str(copy)

    def post_query_hook(self, *, query, query_image, memory_context):
        return {"items": len(memory_context), "undefined": float("nan"), "path": Path("a")}
