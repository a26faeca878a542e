"""Two memory methods that go by the words which a question shares with a page."""

import math
import re
from collections import Counter

from lmev2.memory.protocol import Item
from lmev2.memory.render import render_slice


def words(text):
    """The distinct words of a text, in order."""
    return list(dict.fromkeys(re.findall(r"\w+", text.lower())))


class RerankedSlices:
    """Slices near to the question, the one that shares most words with it first.

    Options:
        top_slices: slices returned.
        candidates: slices that are looked at.
        expand: let the controller add search words to the question.
    """

    pools = ("slices",)
    roles = ("controller", "embedding")
    defaults = {"top_slices": 6, "candidates": 24, "expand": False}

    def __init__(self, options, services):
        self.options = options
        self.services = services

    def attach(self, view):
        self.view = view

    async def query(self, question):
        text = question.text
        if self.options["expand"]:
            ask = f"Which words stand on a page that answers this? Reply with the words.\n\n{text}"
            reply = await self.services.chat([{"role": "user", "content": ask}])
            text = f"{text} {reply.text}"
        vector = await self.services.embed_query(text)
        with self.services.timed("search_s"):
            hits = self.view.pool("slices").search(vector, self.options["candidates"])
            wanted = set(words(text))
            shared = {hit.entry["entry_id"]: len(wanted.intersection(self._words(hit))) for hit in hits}
            # `sorted` is stable: slices that share equally many words stay in the order of the search.
            best = sorted(hits, key=lambda hit: -shared[hit.entry["entry_id"]])[: self.options["top_slices"]]
        self.services.trace(shared=shared)
        with self.services.timed("render_s"):
            return [item for hit in best for item in self._items(hit)]

    def _words(self, hit):
        trajectory = self.view.trajectory(hit.entry["trajectory_id"])
        return words(trajectory.states[hit.entry["centre_state"]].tree)

    def _items(self, hit):
        trajectory = self.view.trajectory(hit.entry["trajectory_id"])
        places = (hit.entry[key] for key in ("first_state", "centre_state", "last_state"))
        return render_slice(trajectory, *places)


class KeywordMemory:
    """An index of words that grows with each trajectory; no shared pool, no model.

    Options:
        top_states: states returned.
    """

    roles = ()
    defaults = {"top_states": 6}

    def __init__(self, options, services):
        self.options = options
        self.services = services
        self.states = []  # (trajectory, state), in the order of insertion
        self.index = {}  # word -> numbers of the states that hold it

    def insert(self, trajectory):
        for state in trajectory.states:
            for word in words(state.tree):
                self.index.setdefault(word, []).append(len(self.states))
            self.states.append((trajectory, state))

    def query(self, question):
        with self.services.timed("search_s"):
            scores = Counter()
            for word in words(question.text):
                found = self.index.get(word, [])
                for number in found:
                    scores[number] += math.log(len(self.states) / len(found))
            best = sorted(scores, key=lambda number: (-scores[number], number))[: self.options["top_states"]]
        return [item for number in best for item in self._items(*self.states[number])]

    def _items(self, trajectory, state):
        place = {
            "source": "keywords",
            "trajectory_id": trajectory.id,
            "first_state": state.index,
            "last_state": state.index,
        }
        text = f"Goal: {trajectory.goal}\nURL: {state.url}\n{state.tree}"
        items = [Item("text", text=text, **place)]
        if state.screenshot:
            items.append(Item("image", image=state.screenshot, **place))
        return items
