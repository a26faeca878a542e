"""What is still to be asked of the models, and what it will cost, before anything is asked.

The estimate walks through the stages with the stages' own code and a door that calls no model
(`lmev2.money.dry`): what the journal holds is done, the first call that it lacks is counted. Requests
that depend on replies which are still to come cannot be known; they are counted by what is known of
their like, and the table's "at most" columns bound them. A memory method's own code is never run.
"""

from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import suppress
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from lmev2.agent.spec import agent_spec
from lmev2.eval_function import parse_eval_function
from lmev2.flow import Flow
from lmev2.insert.embedding import DOCUMENTS
from lmev2.insert.events import write_event
from lmev2.insert.notes import KINDS, write_notes
from lmev2.insert.slices import slice_entries
from lmev2.journal import Journal
from lmev2.judge.again import ask_again, askings
from lmev2.judge.judging import SYSTEM_PROMPTS, USER_PROMPTS, judge_row
from lmev2.llm.door import Door
from lmev2.llm.engine import estimated_tokens
from lmev2.llm.models import SECOND_JUDGE, model_of, roles_of
from lmev2.memory.embedding_text import Recipe
from lmev2.memory.no_retrieval import NoRetrieval
from lmev2.memory.oracle_questions import TABLE as ORACLE_TABLE
from lmev2.memory.oracle_questions import oracle_questions
from lmev2.memory.paper_mode import TABLE as PAPER_TABLE
from lmev2.memory.paper_mode import paper_questions
from lmev2.memory.protocol import Question
from lmev2.memory.registry import memory_class
from lmev2.memory.view import Pool
from lmev2.money.budget import AGENT, Spending
from lmev2.money.dry import DryDoor, Place, Unknown, UnpaidError
from lmev2.money.lines import Estimate, Line, line_of
from lmev2.money.outputs import Outputs
from lmev2.prompts import Prompts
from lmev2.query import Runner, haystacks_of, method_of, question_of
from lmev2.reader import Reader
from lmev2.records import ROW_KEY, Status
from lmev2.store import read_rows
from lmev2.tokenizer import counter_of
from lmev2.tokens import approximate_tokens
from lmev2.trajectory import Trajectories

# Assumed where neither the journal nor the config says anything.
CONTROLLER_TOKENS = 4_000
# What cannot be used is asked for once more; an event before that with shorter trees.
WRITE_ROUNDS = {"notes": 2, "events": 3}
# What an arm sees of its questions beyond text and image, by the table that has it.
FURTHER_FIELDS = {PAPER_TABLE: paper_questions, ORACLE_TABLE: oracle_questions}
STAGES = ("insert", "query", "read", "judge", "judge again")

Key = tuple[str, int]  # question, repeat
Piece = Callable[[], Awaitable[list[dict[str, Any]]]]


class Estimator:
    """Walks through the stages.

    Args:
        flow: the experiment.
        results: folder of the stage files; those of ingest and haystack must be there.
    """

    def __init__(self, flow: Flow, results: str | Path = "results") -> None:
        self.flow, self.config, self.results = flow, flow.config, Path(results)
        self.models = {role: model_of(role, self.config) for role in roles_of(self.config)}
        self.again = self.config["retry_statuses"]
        self.door = DryDoor(self.models, self.config["journal"]["path"], self.again)
        self.outputs = Outputs(self.models, self.door)
        self.journal = Journal(Path(self.config["journal"]["path"]) / "query", replay=True)
        self.trajectories = Trajectories(
            self.results / "ingest/trajectories.parquet",
            self.results / "ingest/states.parquet",
            flow.dataset,
        )
        self.agents: list[Line] = []
        self.notes: dict[str, list[str]] = {}  # what was assumed -> the arms that it is assumed of

    async def estimate(self) -> Estimate:
        """Walk through all stages; calls no model and records nothing."""
        for pool in self.flow.all_pools:
            await self._insert(pool)
        for tier in self.flow.tiers:
            for arm in self.flow.arms:
                queries = self._query(arm, tier)
                reads = await self._read(arm, tier, queries)
                await self._judge(arm, tier, reads)
        lines = [*self._lines(), *self.agents]
        spent = sum(Spending(self.config["journal"]["path"]).by_role().values())
        return Estimate(
            sorted(lines, key=lambda line: STAGES.index(line.stage)),
            [*self._standing_notes(), *(f"{', '.join(of)}: {note}" for note, of in self.notes.items())],
            spent,
            self.config["budget"],
        )

    def _note(self, of: str, text: str) -> None:
        if of not in (known := self.notes.setdefault(text, [])):
            known.append(of)

    # -- insert -----------------------------------------------------------------------------------

    async def _insert(self, pool: str) -> None:
        door, section = self.door, f"pool {pool}"
        entries: list[dict[str, Any]] = []
        missing = 0
        door.place, door.rounds = Place("insert", section), WRITE_ROUNDS.get(pool, 1)
        if pool == "slices":
            entries = list(slice_entries(self.trajectories, self.config["insert"]["slices"]["radius"]))
        else:
            for piece in self._pieces(pool):
                try:
                    entries += await piece()
                except UnpaidError:
                    missing += 1
        door.rounds = 1
        recipe = Recipe(**self.flow.recipe)
        for entry in entries:
            door.embed_texts(DOCUMENTS[pool](entry, self.trajectories, recipe).texts)
        if missing:
            per_piece = len(KINDS) if pool == "notes" else 1
            tokens = min(self.outputs.of("controller")[0] / per_piece, recipe.max_tokens)
            calls = missing * per_piece
            door.unknown("embedding", Unknown(calls, calls, tokens, recipe.max_tokens))

    def _pieces(self, pool: str) -> Iterator[Piece]:
        """The pieces of work of a pool that a model writes."""
        if pool == "notes":
            prompts = Prompts(self.flow.prompts("notes."))
            for trajectory_id in self.trajectories:
                yield partial(write_notes, self.door, self.trajectories[trajectory_id], prompts)
        elif pool == "events":
            prompts = Prompts(self.flow.prompts("events."))
            for trajectory_id in self.trajectories:
                for post in range(1, self.trajectories.n_states(trajectory_id)):
                    yield partial(_event, self.door, self.trajectories[trajectory_id], post, prompts)
        else:
            self._note(f"pool {pool}", "what it costs is not in this estimate")

    # -- query ------------------------------------------------------------------------------------

    @cached_property
    def rows(self) -> dict[str, dict[str, Any]]:
        """The questions' rows by id."""
        return {row["question_id"]: row for row in read_rows(self.results / "ingest/questions.parquet")}

    @cached_property
    def questions(self) -> dict[str, Question]:
        """The questions as methods see them, by id."""
        return {id_: question_of(row) for id_, row in self.rows.items()}

    def _questions(self, arm: str) -> Mapping[str, Question]:
        """The questions that an arm is asked, as it sees them, by id."""
        questions = self.questions
        for table in self.flow.private_tables(arm):
            rows = read_rows(self.results / f"ingest/{table}.parquet")
            questions = FURTHER_FIELDS[table](questions, rows)
        return questions

    def _query(self, arm: str, tier: str) -> dict[Key, dict[str, Any] | None]:
        """The finished queries of an arm, None where one is still to be made; books what those ask."""
        self.door.place = Place("query", arm, tier)
        options, needs = self.flow.memories[arm]
        cls = memory_class(self.flow.arms[arm].reference)
        found = self._finished(arm, tier)
        done = [row for row in found.values() if row is not None]
        for usage in (usage for row in done for usage in row["by_role"]):
            if usage["role"] in self.models and self.door.is_first(usage["role"], usage["request"]):
                book = self.door.books[self.door.place, usage["role"]]
                book.recorded += [usage["input_tokens"] / usage["calls"]] * usage["calls"]
        open_ = len(found) - len(done)
        if open_:
            most = cls.most_calls(options) if hasattr(cls, "most_calls") else {}
            for role in needs["roles"]:
                self._open_queries(role, open_, done, most.get(role, 1), arm)
        if cls is NoRetrieval:  # no need to ask
            nothing = {"status": Status.OK, "error": "", "items": []}
            found = {key: row or nothing for key, row in found.items()}
        return found

    def _finished(self, arm: str, tier: str) -> dict[Key, dict[str, Any] | None]:
        repeats, params = self.config["repeats"], self.flow.query(arm)
        best = self.config["insert"]["embedding"]["best_chunks"]
        questions = self._questions(arm)
        files = {
            pool: [self.results / f"insert/{pool}{part}.parquet" for part in ("", ".embeddings", ".vectors")]
            for pool in params["pools"]
        }
        if not all(file.is_file() for paths in files.values() for file in paths):
            self._note(
                arm,
                "queries count as open, because not all pools that they read are built; after `snakemake "
                "all_memories` the journal is asked",
            )
            return {(id_, repeat): None for repeat in range(repeats) for id_ in questions}
        sampling = self.flow.arms[arm].sampling
        models = {role: model_of(role, self.config, sampling.get(role)) for role in params["models"]}
        runner = Runner(
            method_of({**params, "best_chunks": best}, models, Prompts(params["prompts"]), 1),
            self.trajectories,
            {pool: self._pool(*paths) for pool, paths in files.items()},
            services=None,
            journal=self.journal,
            again=self.again,
        )
        return runner.recorded(questions, self._haystacks(tier), repeats)

    def _pool(self, *paths: Path) -> Pool:
        if paths not in self._pools:
            self._pools[paths] = Pool(*paths, self.config["insert"]["embedding"]["best_chunks"])
        return self._pools[paths]

    @cached_property
    def _pools(self) -> dict[tuple[Path, ...], Pool]:
        return {}

    def _haystacks(self, tier: str) -> dict[str, tuple[str, ...]]:
        return haystacks_of(read_rows(self.results / f"haystack/{tier}.parquet"))

    def _open_queries(self, role: str, open_: int, done: list[dict[str, Any]], most: float, arm: str) -> None:
        if role == AGENT:
            self._open_agent(open_, done, arm)
            return
        usages = [usage for row in done for usage in row["by_role"] if usage["role"] == role]
        if role == "embedding":
            lengths = [len(question.text) for question in self.questions.values()]
            typical, longest = (
                approximate_tokens(sum(lengths) // len(lengths)),
                approximate_tokens(max(lengths)),
            )
        else:
            typical = longest = CONTROLLER_TOKENS
        calls = sum(usage["calls"] for usage in usages) / len(done) if usages else 1.0
        if usages:
            typical = sum(usage["input_tokens"] for usage in usages) / sum(usage["calls"] for usage in usages)
            longest = max(usage["input_tokens"] for usage in usages)
        elif role != "embedding":
            self._note(arm, f"one {role} call of {typical:,} tokens a query is assumed until some are made")
        sampling = self.flow.arms[arm].sampling.get(role, {})
        if most > 1:  # a further call repeats the request and the reply before it
            longest += self.outputs.of(role, sampling.get("max_tokens"))[1]
        self.door.unknown(role, Unknown(open_ * calls, open_ * max(calls, most), typical, longest), sampling)

    def _open_agent(self, open_: int, done: list[dict[str, Any]], arm: str) -> None:
        """What an agent spends on a query is known from finished queries of the same arm only."""
        usages = [usage for row in done for usage in row["by_role"] if usage["role"] == AGENT]
        if not usages:
            self._note(
                arm, f"{open_} queries of the coding agent are NOT in this estimate until some are made"
            )
            return

        def mean_and_most(name: str) -> tuple[float, float]:
            values = [usage[name] for usage in usages]
            return open_ * sum(values) / len(done), open_ * max(values)

        sums = {name: mean_and_most(name) for name in ("calls", "input_tokens", "output_tokens", "cost")}
        self._note(arm, f"the agent's open queries count as the {len(done)} that are made")
        self.agents.append(
            Line(
                stage="query",
                role=AGENT,
                model=usages[-1]["model"],
                method=arm,
                tier=self.door.place.tier,
                recorded=sum(usage["calls"] for usage in usages),
                **{name: expected for name, (expected, _) in sums.items()},
                **{f"{name}_at_most": most for name, (_, most) in sums.items()},
            )
        )

    # -- read -------------------------------------------------------------------------------------

    @cached_property
    def reader(self) -> Reader:
        """The reader behind the dry door."""
        read = self.config["read"]
        return Reader(
            self.door,
            Prompts(self.flow.prompts("reader.")),
            self.config["domains"],
            read["context_tokens"],
            counter_of(read["tokenizer"]),
            retruncate=read["on_overflow"] == "retruncate",
        )

    async def _read(
        self, arm: str, tier: str, queries: Mapping[Key, dict[str, Any] | None]
    ) -> dict[Key, dict[str, Any] | None]:
        """The answers of an arm, None where one is still to be given."""
        self.door.place = Place("read", arm, tier)
        if self.flow.answers_itself(arm):  # no reader is asked
            take = self.reader.take
            return {key: row and take({**row, "prompt_sha256": ""}) for key, row in queries.items()}
        answers: dict[Key, dict[str, Any] | None] = dict.fromkeys(queries)
        for (id_, repeat), query in queries.items():
            question, row = self.questions[id_], self.rows[id_]
            if query is None:
                prompt = estimated_tokens(self.reader.messages(question, row, []))
                self.door.unknown("reader", Unknown(1, 1, None, prompt + self.reader.budget))
                self._note(
                    arm,
                    "contexts that are still to be found count as those that are known of the same method; "
                    f"where none is, and at most, as the full {self.reader.budget:,} tokens",
                )
                continue
            try:
                answers[id_, repeat] = await self.reader.read(question, row, {**query, "repeat": repeat})
            except UnpaidError:
                continue
        return answers

    # -- judge ------------------------------------------------------------------------------------

    async def _judge(self, arm: str, tier: str, reads: Mapping[Key, dict[str, Any] | None]) -> None:
        first, again = Place("judge", arm, tier), Place("judge again", arm, tier)
        more = askings(self.config["judge"]["repeats"], SECOND_JUDGE in self.models)
        attempts = self.door.rounds = self.config["judge"]["attempts"]
        for (id_, repeat), read in reads.items():
            row = self.rows[id_]
            function = parse_eval_function(row["eval_function"])
            if not function.judged:
                continue
            self.door.place = first
            if read is None:
                names = SYSTEM_PROMPTS[function.name], USER_PROMPTS[function.name]
                template = "".join(self.judge_prompts[name] for name in names)
                known = approximate_tokens(len(template) + len(row["text"]) + len(row["answer"]))
                expected, most = self.outputs.of("reader")
                call = Unknown(1, 1, known + expected, known + most)
                self.door.unknown("judge", call)
                self.door.place = again
                for asking in more:
                    self.door.unknown(asking.role, call)
                continue
            read = {**dict.fromkeys(ROW_KEY), **read, "repeat": repeat}
            try:
                judged = await judge_row(self.door.chat, row, read, self.judge_prompts, attempts=attempts)
            except UnpaidError:
                judged = None
            self.door.place = again
            # As in the rule repeat_verdicts: only where a judge was asked.
            for asking in more if judged is None or judged["calls"] else ():
                with suppress(UnpaidError):
                    await ask_again(self.door.chat, asking, row, read, self.judge_prompts, attempts=attempts)
        self.door.rounds = 1

    @cached_property
    def judge_prompts(self) -> Prompts:
        """The judge's templates."""
        return Prompts(self.flow.prompts("judge.", "judge_"))

    # -- summing up -------------------------------------------------------------------------------

    def _lines(self) -> Iterator[Line]:
        known: dict[tuple[str, str, str], list[float]] = defaultdict(list)
        for (place, role), book in self.door.books.items():
            known[place.stage, place.method, role] += book.known
        for (place, role), book in self.door.books.items():
            like = known[place.stage, place.method, role]
            yield line_of(place, role, self.models[role], book, like, self.outputs)

    def _standing_notes(self) -> Iterator[str]:
        """What the numbers rest on."""
        yield (
            "tokens of requests are counted approximately (three characters a token, pictures by area), the "
            f"reader's contexts are cut with the tokenizer {self.config['read']['tokenizer']['name']!r}"
        )
        for role, model in self.models.items():
            most = model.sampling.get("max_tokens")
            if model.provider == "embedded":
                yield f"{role}: {model.name} runs here and costs nothing"
                continue
            if not model.prices:
                yield f"{role}: `prices` has no {model.model}, so it counts as free"
            if role == "embedding":
                continue
            seen = self.outputs.seen(role)
            if seen:
                source = f"the mean of {len(seen)} recorded calls"
            elif most:
                source = "max_tokens, as none is recorded yet"
            else:
                source = "an assumption: nothing is recorded yet and the config sets no max_tokens"
            yield f"{role}: {self.outputs.of(role)[0]:,.0f} output tokens a call are expected ({source})"
        if any(map(self.flow.runs_agent, self.flow.arms)):
            agent = agent_spec(self.config)
            if agent.provider != "embedded" and not agent.prices:
                yield f"agent: `prices` has no {agent.model}, so it counts as free"
        yield (
            "`at most` includes repairs of notes, events and queries and repeated askings of the judge, but"
            " no attempts that fail and no askings after an empty or cut reply (limits.answer_attempts)"
        )


async def _event(door: Door, trajectory: Any, post: int, prompts: Prompts) -> list[dict[str, Any]]:
    return [await write_event(door, trajectory, post, prompts)]
