"""What is worth telling of a dataset: how much of what, and what is missing."""

from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any

from lmev2.ingest.defects import counted
from lmev2.ingest.screenshots import Missing
from lmev2.ingest.trajectories import Trajectory
from lmev2.tokens import CHARS_PER_TOKEN

_MAX_NAMED = 10


@dataclass
class TierCounts:
    """One tier's haystacks. Tokens are those of the trees of one haystack, approximate."""

    questions: int
    trajectories: int  # distinct
    shortest: int
    longest: int
    mean_tokens: int


@dataclass
class DomainCounts:
    """The trajectories of one domain. Tokens are approximate."""

    trajectories: int = 0
    states: int = 0
    tree_tokens: int = 0
    screenshots: int = 0


@dataclass
class TypeCounts:
    """The questions of one type."""

    by_domain: dict[str, int] = field(default_factory=dict)
    images: int = 0


@dataclass
class Counts:
    """Counts over a dataset; see `text` for the readable form."""

    questions: int = 0
    questions_by_domain: Counter = field(default_factory=Counter)
    questions_by_type: Counter = field(default_factory=Counter)
    questions_by_evaluator: Counter = field(default_factory=Counter)
    question_images: int = 0
    labelled_questions: int = 0
    trajectories: int = 0
    trajectories_by_domain: Counter = field(default_factory=Counter)
    trajectories_by_environment: Counter = field(default_factory=Counter)
    outcomes: Counter = field(default_factory=Counter)  # "unknown" where null or empty
    families: int = 0
    states: int = 0
    tree_tokens: int = 0  # approximate
    longest_tree: int = 0  # characters
    empty_trees: int = 0
    null_actions: int = 0  # state 0, which has none by definition, apart
    null_thoughts: int = 0  # likewise
    screenshots: int = 0
    missing_screenshots: Counter = field(default_factory=Counter)  # by reason, see `Missing`
    types: dict[str, TypeCounts] = field(default_factory=dict)
    domains: dict[str, DomainCounts] = field(default_factory=dict)
    notices: list[str] = field(default_factory=list)
    tiers: dict[str, TierCounts] = field(default_factory=dict)

    def add_questions(self, rows: list[dict[str, Any]]) -> None:
        """Count rows of the schema `questions`."""
        for row in rows:
            self.questions += 1
            self.questions_by_domain[row["domain"]] += 1
            self.questions_by_type[row["question_type"]] += 1
            self.questions_by_evaluator[row["evaluator"]] += 1
            self.question_images += row["image"] is not None
            of_type = self.types.setdefault(row["question_type"], TypeCounts())
            of_type.by_domain[row["domain"]] = of_type.by_domain.get(row["domain"], 0) + 1
            of_type.images += row["image"] is not None

    def add_trajectory(self, trajectory: Trajectory) -> None:
        """Count one trajectory with its states."""
        row = trajectory.row
        self.trajectories += 1
        self.trajectories_by_domain[row["domain"]] += 1
        self.trajectories_by_environment[row["environment"]] += 1
        self.outcomes[row["outcome"] or "unknown"] += 1
        of_domain = self.domains.setdefault(row["domain"], DomainCounts())
        of_domain.trajectories += 1
        of_domain.states += len(trajectory.states)
        of_domain.tree_tokens += sum(state["tree_tokens"] for state in trajectory.states)
        of_domain.screenshots += sum(reason is None for reason, _ in trajectory.missing)
        for state, (reason, value) in zip(trajectory.states, trajectory.missing, strict=True):
            self.states += 1
            self.tree_tokens += state["tree_tokens"]
            self.longest_tree = max(self.longest_tree, len(state["tree"]))
            self.empty_trees += not state["tree"]
            self.null_actions += state["action"] is None and state["state_index"] > 0
            self.null_thoughts += state["thought"] is None and state["state_index"] > 0
            self.screenshots += reason is None
            if reason is None:
                continue
            self.missing_screenshots[str(reason)] += 1
            if reason is Missing.DAMAGED:
                self.notices.append(
                    f"the screenshot {value!r} (trajectory {row['trajectory_id']!r}, "
                    f"state {state['state_index']}) does not open and counts as missing"
                )

    def add_tier(self, tier: str, haystacks: dict[str, list[str]], tokens: dict[str, int]) -> None:
        """Count a tier's haystacks; `tokens` are those of each trajectory's trees."""
        lengths = [len(members) for members in haystacks.values()]
        total = sum(tokens[member] for members in haystacks.values() for member in members)
        self.tiers[tier] = TierCounts(
            questions=len(haystacks),
            trajectories=len({member for members in haystacks.values() for member in members}),
            shortest=min(lengths),
            longest=max(lengths),
            mean_tokens=round(total / len(haystacks)),
        )

    def to_dict(self) -> dict[str, Any]:
        """The counts as a JSON object; the entries of each breakdown are sorted."""
        breakdowns = {k: dict(sorted(v.items())) for k, v in vars(self).items() if isinstance(v, Counter)}
        parts = {
            key: {name: asdict(counts) for name, counts in sorted(vars(self)[key].items())}
            for key in ("types", "domains")
        }
        tiers = {tier: asdict(counts) for tier, counts in self.tiers.items()}
        return {**vars(self), **breakdowns, **parts, "tiers": tiers}

    def text(self) -> str:
        """The counts as readable lines."""
        lines = [
            f"questions      {self.questions:,} ({_parts(self.questions_by_domain)}), "
            f"{self.question_images} with an image, {self.labelled_questions} with evidence labels",
            f"  types        {_parts(self.questions_by_type)}",
            f"  evaluators   {_parts(self.questions_by_evaluator)}",
            f"trajectories   {self.trajectories:,} ({_parts(self.trajectories_by_domain)})"
            + (f", {self.families} task families" if self.families else ""),
            f"  environments {_parts(self.trajectories_by_environment)}",
            f"  outcomes     {_parts(self.outcomes)}",
            f"states         {self.states:,}, {self.tree_tokens:,} tokens of trees "
            f"(approximate: {CHARS_PER_TOKEN} characters a token), "
            f"longest tree {self.longest_tree:,} characters",
            f"  without      {self.empty_trees:,} tree, {self.null_actions:,} action, "
            f"{self.null_thoughts:,} thought (state 0 apart from the last two)",
            f"screenshots    {self.screenshots:,}, {self.missing_screenshots.total():,} missing"
            + (f" ({_parts(self.missing_screenshots)})" if self.missing_screenshots else ""),
        ]
        for tier, counts in self.tiers.items():
            size = f"{counts.shortest}" if counts.shortest == counts.longest else None
            size = size or f"{counts.shortest} to {counts.longest}"
            lines.append(
                f"{tier:<14} haystacks of {size} trajectories for {counts.questions:,} questions, "
                f"{counts.trajectories:,} distinct, {counts.mean_tokens:,} tokens on average"
            )
        lines += [f"notice: {notice}" for notice in self.notices[:_MAX_NAMED]]
        if len(self.notices) > _MAX_NAMED:
            lines.append(f"notice: {counted(len(self.notices) - _MAX_NAMED, 'more notice')} not printed")
        return "\n".join(lines)


def _parts(counts: Counter) -> str:
    return ", ".join(f"{name} {n:,}" for name, n in sorted(counts.items()))
