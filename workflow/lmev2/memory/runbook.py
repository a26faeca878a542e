"""AgentRunbook-R: three pools and a controller that writes the queries (docs/methods.md).

The controller model reads a summary of the haystack and the question and replies with up to five queries
for state slices, one for events and one for notes. Each pool is searched with its own queries.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from lmev2.asking import Message, ask_with_repair
from lmev2.insert.notes import KINDS
from lmev2.memory.bundle import MOST_SLICE_QUERIES, Bundle, parse_bundle, schema_example
from lmev2.memory.embedding_text import question_query_text
from lmev2.memory.merge import RULES, merge
from lmev2.memory.paper_mode import MODES, TABLE, paper_fallback, paper_fields
from lmev2.memory.protocol import HaystackView, Item, Question, Services
from lmev2.memory.render import heading, render_event, render_notes, render_slice
from lmev2.memory.summary import memory_summary
from lmev2.memory.view import Hit

# In the order in which the context shows them.
POOLS = ("notes", "events", "slices")
Found = Mapping[str, Sequence[Hit]]


class AgentRunbookR:
    """The paper's RAG method, and its ablations by the option `pools`.

    Options:
        pools: which of notes, events and slices it has; an absent pool is in no prompt and no search.
        top_slices: slices found per query, and the budget of the merge (6 in the paper).
        top_events: events returned (6).
        top_notes: notes of each kind returned (3).
        merge: how many slices each query keeps, "code" (the released code) or "paper" (its text).
        slice_queries: most queries for slices (5).
        mode: what the controller sees of a question, "private" (text and image) or "paper", for
            replication only (`lmev2.memory.paper_mode`).
        strip_answer_format: drop the question's sentences on the form of the answer where the question
            itself is the query (false in the paper; static word vectors need it).
    """

    defaults: Mapping[str, Any] = {
        "pools": POOLS,
        "top_slices": 6,
        "top_events": 6,
        "top_notes": 3,
        "merge": "code",
        "slice_queries": MOST_SLICE_QUERIES,
        "mode": "private",
        "strip_answer_format": False,
    }

    def __init__(self, options: Mapping[str, Any], services: Services) -> None:
        self.options = self.complete(options)
        self.services = services
        self.pools = self.options["pools"]
        self.paper = self.options["mode"] == "paper"

    @classmethod
    def complete(cls, options: Mapping[str, Any]) -> dict[str, Any]:
        """The options with their defaults, pools in order.

        Raises:
            ValueError: an option has a value that it cannot have.
        """
        complete = {**cls.defaults, **options}
        if complete["merge"] not in RULES:
            raise ValueError(f"merge must be one of {', '.join(RULES)}, it is {complete['merge']!r}")
        if complete["mode"] not in MODES:
            raise ValueError(f"mode must be one of {', '.join(MODES)}, it is {complete['mode']!r}")
        pools = complete["pools"]
        if not pools or not set(pools) <= set(POOLS):
            raise ValueError(f"pools must be some of {', '.join(POOLS)}, it is {pools!r}")
        return {**complete, "pools": tuple(pool for pool in POOLS if pool in pools)}

    @classmethod
    def needs(cls, options: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
        """Pools, models and prompts that it uses with these options."""
        complete = cls.complete(options)
        pools = complete["pools"]
        shared = ("controller.system", "controller.user", "controller.repair")
        return {
            "pools": pools,
            "roles": ("controller", "embedding"),
            "prompts": (*shared, *(f"controller.{pool}" for pool in pools)),
            "private_tables": (TABLE,) if complete["mode"] == "paper" else (),
        }

    @classmethod
    def most_calls(cls, options: Mapping[str, Any]) -> dict[str, int]:
        """How many calls one query makes at most, by role: a repair, and one for each text to embed."""
        complete = cls.complete(options)
        queries = {"slices": complete["slice_queries"], "events": 1, "notes": 1}
        return {"controller": 2, "embedding": sum(queries[pool] for pool in complete["pools"])}

    def attach(self, view: HaystackView) -> None:
        """Take the haystack's view of the pools, and sum it up for the controller."""
        self.view = view
        self.notes = [view.pool("notes").where("kind", kind) for kind in KINDS if "notes" in self.pools]
        self.summary = memory_summary(view, self.pools)

    async def query(self, question: Question) -> list[Item]:
        """Notes, events and slices, each best first."""
        bundle = await self.plan(question)
        texts = list(dict.fromkeys([*bundle.slices, bundle.event, bundle.note]))
        texts = [text for text in texts if text]
        vectors = dict(zip(texts, await self.services.embed_queries(texts), strict=True))
        with self.services.timed("search_s"):
            ranked = self.rank_slices(bundle, vectors)
            found = self.search(bundle, vectors, ranked)
        with self.services.timed("render_s"):
            items, missing = self.render(found)
        self.services.trace(
            hits={
                pool: [[hit.entry["entry_id"], round(hit.score, 6)] for hit in hits]
                for pool, hits in found.items()
            },
            slice_hits={
                query: [[hit.entry["entry_id"], round(hit.score, 6)] for hit in hits]
                for query, hits in ranked.items()
            },
            queries_without_vector=[text for text in texts if vectors[text] is None],
            missing_screenshots=missing,
        )
        return items

    async def plan(self, question: Question) -> Bundle:
        """The queries for one question: the controller's, or the fallback where no reply can be used."""
        asked = await ask_with_repair(
            self.services.chat,
            self.messages(question),
            partial(parse_bundle, pools=self.pools, most=self.options["slice_queries"]),
            self.services.prompts.fill("controller.repair", schema=schema_example(self.pools)),
        )
        bundle = asked.value or self.fallback(question)
        outcome = "fallback" if asked.value is None else "repaired" if asked.repaired else "parsed"
        self.services.trace(controller=outcome, bundle=bundle.to_dict(), dropped=bundle.dropped)
        if self.paper:
            self.services.trace(mode="paper", leaderboard_safe=False)
        return bundle

    def messages(self, question: Question) -> list[Message]:
        """The controller's request: the haystack's summary, the question with its image, the task."""
        prompts = self.services.prompts
        about = [prompts.fill(f"controller.{pool}") for pool in reversed(POOLS) if pool in self.pools]
        task = prompts.fill("controller.user", pools="\n\n".join(about), schema=schema_example(self.pools))
        fields = paper_fields(question) if self.paper else ""
        asked = f"{fields}<question>\n{question.text}\n</question>"
        content: list[dict[str, Any]] = [
            {"type": "text", "text": f"<memory>\n{self.summary}\n</memory>\n\n{asked}"},
            {"type": "text", "text": task},
        ]
        if question.image and not self.paper:
            content.insert(1, question.image.part())
        return [
            {"role": "system", "content": prompts.fill("controller.system")},
            {"role": "user", "content": content},
        ]

    def fallback(self, question: Question) -> Bundle:
        """The question itself as the one slice query; without slices, as the query of what is left."""
        text = question_query_text(question.text, strip_answer_format=self.options["strip_answer_format"])
        if self.paper:
            return self._present(paper_fallback(question, text))
        return Bundle((text,)) if "slices" in self.pools else self._present(Bundle((), text, text))

    def _present(self, bundle: Bundle) -> Bundle:
        """Only the queries of the pools that the method has."""
        return Bundle(
            bundle.slices if "slices" in self.pools else (),
            bundle.event * ("events" in self.pools),
            bundle.note * ("notes" in self.pools),
        )

    def rank_slices(self, bundle: Bundle, vectors: Mapping[str, np.ndarray | None]) -> dict[str, list[Hit]]:
        """What each slice query finds, best first; nothing for one without a vector."""
        top = self.options["top_slices"]
        slices = {query: vectors[query] for query in bundle.slices}
        return {
            query: self.view.pool("slices").search(vector, top)
            for query, vector in slices.items()
            if vector is not None
        }

    def search(
        self, bundle: Bundle, vectors: Mapping[str, np.ndarray | None], ranked: Mapping[str, list[Hit]]
    ) -> dict[str, list[Hit]]:
        """What the queries find, by pool.

        Args:
            bundle: the queries.
            vectors: per query its unit vector [d], None where the model knows no word of it; such a
                query finds nothing.
            ranked: what `rank_slices` found.
        """
        found: dict[str, list[Hit]] = {}
        note, event = vectors.get(bundle.note), vectors.get(bundle.event)
        if note is not None:
            top = self.options["top_notes"]
            found["notes"] = [hit for kind in self.notes for hit in kind.search(note, top)]
        if event is not None:
            found["events"] = self.view.pool("events").search(event, self.options["top_events"])
        if ranked:
            budget, rule = self.options["top_slices"], self.options["merge"]
            found["slices"] = merge(list(ranked.values()), lambda hit: hit.entry["entry_id"], budget, rule)
        return found

    def render(self, found: Found) -> tuple[list[Item], int]:
        """The context of what was found, and how many screenshots it should have but has not."""
        items = render_notes([hit.entry for hit in found.get("notes", ())])
        events, slices = found.get("events", ()), found.get("slices", ())
        if events:
            items.append(heading("Steps of earlier runs, and what they changed", "events"))
        for hit in events:
            items += render_event(self.view.trajectory(hit.entry["trajectory_id"]), hit.entry)
        if slices:
            items.append(heading("Slices of earlier runs", "slices"))
        for hit in slices:
            entry = hit.entry
            window = (entry["first_state"], entry["centre_state"], entry["last_state"])
            items += render_slice(self.view.trajectory(entry["trajectory_id"]), *window)
        shown = sum(item.kind == "image" for item in items)
        return items, 2 * len(events) + len(slices) - shown
