"""The contract between stages: statuses, abilities and the Arrow schema of every stage file.

A stage writes exactly the columns named here (`store.write_table` checks), so a reader of any
file under `results/` finds its meaning in this module. Times are seconds, token counts integers.
"""

from enum import StrEnum

import pyarrow as pa


class Status(StrEnum):
    """Outcome of one item. Everything but `OK` is final, scored 0 and counted apart in the tables."""

    OK = "ok"
    QUERY_FAILED = "query_failed"  # the memory method raised an error
    AGENT_FAILED = "agent_failed"  # a coding agent gave no usable output in all attempts
    CONTEXT_OVERFLOW = "context_overflow"  # the prompt does not fit the served model
    LENGTH_NO_ANSWER = "length_no_answer"  # the reply was cut before any answer
    CONTENT_FILTER = "content_filter"
    REFUSAL = "refusal"
    EMPTY_REPLY = "empty_reply"
    JUDGE_UNREADABLE = "judge_unreadable"  # no unambiguous verdict in all attempts
    NOT_IMPORTED = "not_imported"  # an official run that is imported in part has no usable record of it


class EntryStatus(StrEnum):
    """How a memory entry (a note, an event) came about."""

    OK = "ok"
    REPAIRED = "repaired"  # the first reply was unusable, the repair call was not
    TEMPLATE = "template"  # both replies were unusable; written from the trajectory by rule


# question_type -> (column of Table 2, is abstention); the paper pools each type with its -abs twin.
QUESTION_TYPES = {
    "static-environment": ("static", False),
    "static-environment-abs": ("static", True),
    "dynamic-environment": ("dynamic", False),
    "dynamic-environment-abs": ("dynamic", True),
    "procedure": ("workflow", False),
    "procedure-abs": ("workflow", True),
    "errors-gotchas": ("gotchas", False),
}
ABILITIES = ("static", "dynamic", "workflow", "gotchas")

# Measured with a clock where an item ran first: the only columns in which two runs may differ.
# A replay from the journal keeps them.
TIMING_COLUMNS = frozenset(
    {
        "latency_s",
        "insert_s",
        "model_s",
        "embed_s",
        "search_s",
        "render_s",
        "other_s",
        "queue_wait_s",
        "retry_wait_s",
        "latency_mean_s",
        "latency_median_s",
        "latency_p95_s",
        "latency_max_s",
        "duration_s",
        "by_role",  # its counts are in the row's own columns as sums
    }
)

_key = [("question_id", pa.string())]
_arm = [
    ("method", pa.string()),
    ("operating_point", pa.string()),  # "" for a method's default point
    ("tier", pa.string()),
    ("repeat", pa.int32()),  # 0-based
]
# The columns that name a row of the query, read and judge tables: one question, asked once by one arm.
ROW_KEY = tuple(name for name, _ in _key + _arm)

# What one or more model calls cost; every row that stands for calls carries these.
_usage = [
    ("model", pa.string()),  # "" when no model was asked
    ("request", pa.string()),  # journal key of the (last) call, "" when none
    ("calls", pa.int32()),
    ("attempts", pa.int32()),
    ("input_tokens", pa.int64()),
    ("output_tokens", pa.int64()),
    ("cost", pa.float64()),  # in the currency of the config's prices; 0 for embedded models
    ("latency_s", pa.float64()),
    ("queue_wait_s", pa.float64()),
    ("retry_wait_s", pa.float64()),
]

# The usage of one row by the role of the model that was asked.
BY_ROLE = pa.list_(pa.struct([("role", pa.string()), *_usage]))

# `source` of an item of an imported context of which nothing says where it comes from.
NO_SOURCE = "official run"

ITEM = pa.struct(
    [
        ("kind", pa.string()),  # "text" | "image"
        ("text", pa.string()),  # null for images
        ("image", pa.string()),  # path of the image, null for text
        ("image_sha256", pa.string()),
        ("width", pa.int32()),
        ("height", pa.int32()),
        ("source", pa.string()),  # pool or part that it comes from: "slices", "notes", "", ...
        ("trajectory_id", pa.string()),  # null where an item stands for several or none
        ("first_state", pa.int32()),
        ("last_state", pa.int32()),
    ]
)

SCHEMAS = {
    # -- ingest ---------------------------------------------------------------------------------
    "questions": pa.schema(
        _key
        + [
            ("domain", pa.string()),
            ("environment", pa.string()),
            ("question_type", pa.string()),
            ("ability", pa.string()),
            ("abstention", pa.bool_()),
            ("text", pa.string()),
            ("image", pa.string()),  # path under results/, named by content, null without image
            ("image_sha256", pa.string()),
            ("answer", pa.string()),
            ("eval_function", pa.string()),
            ("evaluator", pa.string()),  # the name part of eval_function
        ]
    ),
    # All that a memory method may know of a question (privacy rule, docs/benchmark.md).
    "query_questions": pa.schema(
        _key + [("text", pa.string()), ("image", pa.string()), ("image_sha256", pa.string())]
    ),
    # What the privacy rule keeps from methods; made only where one has the option `mode: paper`.
    "paper_questions": pa.schema(
        _key
        + [
            ("question_type", pa.string()),
            ("image", pa.string()),  # path as the dataset names it
            ("original_goals", pa.list_(pa.string())),
        ]
    ),
    "trajectories": pa.schema(
        [
            ("trajectory_id", pa.string()),
            ("domain", pa.string()),
            ("environment", pa.string()),
            ("goal", pa.string()),
            ("outcome", pa.string()),  # as given ("success", "failure", ...) or null
            ("start_url", pa.string()),
            ("n_states", pa.int32()),
            ("fingerprint", pa.string()),  # sha256 of all content, screenshots by their sha256
            ("family", pa.string()),  # task family where the dataset names it
        ]
    ),
    # One row group per trajectory, in file order; states in order of state_index.
    "states": pa.schema(
        [
            ("trajectory_id", pa.string()),
            ("state_index", pa.int32()),
            ("step", pa.int32()),
            ("url", pa.string()),
            ("action", pa.string()),  # the action that led to this state; null for state 0
            ("thought", pa.string()),
            ("tree", pa.string()),
            ("tree_tokens", pa.int32()),  # approximate (lmev2.tokens)
            ("page_title", pa.string()),  # name of the tree's first page root, "" without one
            ("screenshot", pa.string()),  # path relative to the dataset folder, null if missing
            ("screenshot_sha256", pa.string()),
            ("screenshot_width", pa.int32()),
            ("screenshot_height", pa.int32()),
        ]
    ),
    # Evidence labels. A question without hops has one row with null hop and trajectory.
    "coverage": pa.schema(
        _key
        + [
            ("hop", pa.string()),
            ("trajectory_id", pa.string()),
            ("state_indexes", pa.list_(pa.int32())),
            ("anchor_question_id", pa.string()),
        ]
    ),
    # Evidence of the non-abstention questions, for pilot studies alone. Null where there is none.
    "oracle_questions": pa.schema(
        _key
        + [
            ("hop", pa.string()),
            ("trajectory_id", pa.string()),
            ("state_indexes", pa.list_(pa.int32())),
        ]
    ),
    # -- haystack -------------------------------------------------------------------------------
    "haystack": pa.schema(_key + [("position", pa.int32()), ("trajectory_id", pa.string())]),
    "haystack_labels": pa.schema(_key + [("position", pa.int32()), ("role", pa.string())]),
    # Assembled haystacks: the trajectory of the answer core that stands for each hop. Labels, too.
    "haystack_core": pa.schema(_key + [("hop", pa.string()), ("trajectory_id", pa.string())]),
    # -- insert ---------------------------------------------------------------------------------
    "slices": pa.schema(
        [
            ("entry_id", pa.string()),
            ("trajectory_id", pa.string()),
            ("first_state", pa.int32()),
            ("centre_state", pa.int32()),
            ("last_state", pa.int32()),
            ("digest", pa.string()),
        ]
    ),
    "notes": pa.schema(
        [
            ("entry_id", pa.string()),
            ("trajectory_id", pa.string()),
            ("kind", pa.string()),  # "procedure" | "hint"
            ("title", pa.string()),
            ("description", pa.string()),
            ("content", pa.string()),  # bullet list
            ("status", pa.string()),  # EntryStatus
            ("digest", pa.string()),
            ("prompt_sha256", pa.string()),
        ]
        + _usage
    ),
    # Trajectories as files for coding agents; the folders lie in insert/files/.
    "files": pa.schema(
        [
            ("trajectory_id", pa.string()),
            ("folder", pa.string()),  # named by content
            ("goal", pa.string()),
            ("outcome", pa.string()),
            ("start_url", pa.string()),
            ("n_states", pa.int32()),
            ("n_screenshots", pa.int32()),
            ("actions", pa.list_(pa.string())),  # by state, each with the element that it touched
        ]
    ),
    # One per pair of neighbouring states.
    "events": pa.schema(
        [
            ("entry_id", pa.string()),
            ("trajectory_id", pa.string()),
            ("pre_state", pa.int32()),
            ("post_state", pa.int32()),
            ("overview", pa.string()),
            ("transition", pa.string()),
            ("status", pa.string()),  # EntryStatus
            ("trees_cut", pa.bool_()),  # asked again with shorter trees
            ("digest", pa.string()),
            ("prompt_sha256", pa.string()),
        ]
        + _usage
    ),
    # Which vectors (rows of insert/{pool}.vectors.parquet) stand for an entry; none: it is never found.
    "embeddings": pa.schema(
        [
            ("entry_id", pa.string()),
            ("trajectory_id", pa.string()),
            ("vectors", pa.list_(pa.int32())),
            ("centre_share", pa.float64()),  # share of the centre state's tree that is in the texts
            ("was_cut", pa.bool_()),
            ("digest", pa.string()),  # of the texts
        ]
        + _usage  # a batch of texts is booked on the entry that completed it
    ),
    # -- query, read, judge ---------------------------------------------------------------------
    "query": pa.schema(
        _key
        + _arm
        + [
            ("status", pa.string()),
            ("error", pa.string()),
            ("items", pa.list_(ITEM)),
            ("model_s", pa.float64()),  # parts of latency_s: chat calls,
            ("embed_s", pa.float64()),  # embedding calls,
            ("search_s", pa.float64()),  # search,
            ("render_s", pa.float64()),  # rendering,
            ("other_s", pa.float64()),  # the rest
            ("insert_s", pa.float64()),  # sequential insertion of the haystack, not in latency_s
            ("in_flight", pa.int32()),  # queries of this job in flight when it began, itself included
            ("prompt_sha256", pa.string()),  # of all templates that the method uses
            ("trace", pa.string()),  # JSON, method-specific
            ("by_role", BY_ROLE),  # whose sums the usage columns are (but for latency_s)
        ]
        + _usage
    ),
    "read": pa.schema(
        _key
        + _arm
        + [
            ("status", pa.string()),
            ("error", pa.string()),
            ("context_items", pa.int32()),
            ("context_items_kept", pa.int32()),
            ("context_tokens", pa.int64()),
            ("context_tokens_kept", pa.int64()),
            ("was_truncated", pa.bool_()),
            ("response_raw", pa.string()),
            ("reasoning", pa.string()),
            ("prediction", pa.string()),
            ("boxed", pa.string()),  # boxed.Found: none, one, several, unclosed, empty
            ("is_unknown", pa.bool_()),
            ("finish_reason", pa.string()),
            ("prompt_sha256", pa.string()),
        ]
        + _usage
    ),
    "judge": pa.schema(
        _key
        + _arm
        + [
            ("status", pa.string()),
            ("error", pa.string()),
            ("evaluator", pa.string()),
            ("score", pa.int8()),  # 0 | 1
            ("label", pa.int8()),  # the judge's verdict, null for deterministic evaluators
            ("reason", pa.string()),
            ("response_raw", pa.string()),  # of the judge
            ("prompt_sha256", pa.string()),
        ]
        + _usage
    ),
    # One row per command of a coding agent, in order of query, attempt and time (Figures 8 and 9).
    "agent_commands": pa.schema(
        _key
        + _arm
        + [
            ("attempt", pa.int32()),  # 0-based
            ("round", pa.int32()),  # 0-based, over all attempts of the query
            ("class", pa.string()),  # lmev2.agent.classify.CLASSES
            ("kind", pa.string()),  # of a raw command: search | read | scan; else ""
            ("command", pa.string()),
            ("exit_code", pa.int32()),
            ("duration_s", pa.float64()),  # null where the agent does not tell
        ]
    ),
    # -- stats ----------------------------------------------------------------------------------
    # status is the first of query, read, judge that is not "ok".
    "scores": pa.schema(
        _key
        + _arm
        + [
            ("domain", pa.string()),
            ("environment", pa.string()),
            ("question_type", pa.string()),
            ("ability", pa.string()),
            ("abstention", pa.bool_()),
            ("evaluator", pa.string()),
            ("judged", pa.bool_()),  # True where a model judged
            ("prediction", pa.string()),
            ("is_unknown", pa.bool_()),
            ("score", pa.int8()),
            ("status", pa.string()),
            ("latency_s", pa.float64()),  # of the query
        ]
    ),
    # Verdicts on judged answers: the one of record (judge "judge", asking 0) and those asked beside it.
    "verdicts": pa.schema(
        _key
        + _arm
        + [
            ("evaluator", pa.string()),
            ("judge", pa.string()),  # role: "judge" | "second_judge"
            ("asking", pa.int32()),  # 0-based
            ("label", pa.int8()),  # null where no verdict could be read
            ("status", pa.string()),
        ]
        + _usage
    ),
    # What the context that the reader got holds (docs/statistics.md); null where the labels are missing.
    "retrieval": pa.schema(
        _key
        + _arm
        + [
            ("ability", pa.string()),
            ("abstention", pa.bool_()),
            ("domain", pa.string()),
            ("status", pa.string()),  # of the query
            ("context_tokens", pa.int64()),  # after truncation
            ("holds_family", pa.bool_()),  # a trajectory of the task family of an answer trajectory
            ("holds_trajectory", pa.bool_()),  # an answer trajectory
            ("holds_state", pa.bool_()),  # an evidence state of one
            ("holds_every_hop", pa.bool_()),  # an evidence state for each hop
            ("holds_url", pa.bool_()),  # a state with the URL of an evidence state
            ("rank_trajectory", pa.int32()),  # place of the first piece from an answer trajectory, from 1
            ("rank_state", pa.int32()),  # of the first that shows an evidence state
            ("holds_gold", pa.bool_()),  # every gold phrase; null where the evaluator has none
        ]
    ),
    # One row per method x operating point x tier x subset x column.
    # subset: all | judge_free | abstention | answerable | domain=<name>; column: overall | an ability.
    "accuracy": pa.schema(
        [
            ("method", pa.string()),
            ("operating_point", pa.string()),
            ("tier", pa.string()),
            ("subset", pa.string()),
            ("column", pa.string()),
            ("n", pa.int32()),  # questions
            ("accuracy", pa.float64()),
            ("low", pa.float64()),  # interval (config: stats.interval, stats.confidence)
            ("high", pa.float64()),
            ("unknown", pa.float64()),  # share answered UNKNOWN
            ("errors", pa.int32()),  # question x repeat rows whose status is not ok
        ]
    ),
    "latency": pa.schema(
        [
            ("method", pa.string()),
            ("operating_point", pa.string()),
            ("tier", pa.string()),
            ("n", pa.int32()),
            ("latency_mean_s", pa.float64()),
            ("latency_median_s", pa.float64()),
            ("latency_p95_s", pa.float64()),
            ("latency_max_s", pa.float64()),
        ]
    ),
    # One row per ordered pair of arms, tier and column; in subsets other than "all" only family baselines.
    "significance": pa.schema(
        [
            ("method", pa.string()),
            ("operating_point", pa.string()),
            ("baseline", pa.string()),
            ("baseline_operating_point", pa.string()),
            ("tier", pa.string()),
            ("subset", pa.string()),  # as in accuracy
            ("column", pa.string()),
            ("is_family_baseline", pa.bool_()),  # the pair counts for the mark of Table 2
            ("n", pa.int32()),
            ("difference", pa.float64()),
            ("low", pa.float64()),
            ("high", pa.float64()),
            ("p_one_sided", pa.float64()),
            ("p_two_sided", pa.float64()),
            ("resamples", pa.int32()),  # 0: computed exactly
            ("p_standard_error", pa.float64()),  # Monte Carlo error of p_one_sided, 0 where exact
            ("p_mcnemar", pa.float64()),
            ("p_holm", pa.float64()),  # over the family baselines and columns of this tier and subset
            ("wins", pa.int32()),
            ("losses", pa.int32()),
            ("cohens_h", pa.float64()),  # effect sizes: of the two accuracies,
            ("odds_ratio", pa.float64()),  # wins to losses; null without losses
            # The second reading: questions with an error in either arm left out; null if none are left.
            ("errors", pa.int32()),  # so many questions
            ("difference_without_errors", pa.float64()),
            ("low_without_errors", pa.float64()),
            ("high_without_errors", pa.float64()),
            ("p_one_sided_without_errors", pa.float64()),
            ("p_two_sided_without_errors", pa.float64()),
        ]
    ),
}
