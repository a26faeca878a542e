"""All files of Table 2 from the stats tables."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lmev2.report.captions import Source
from lmev2.report.comparisons import write_comparisons
from lmev2.report.table2 import read_table2, write_table2_csv, write_table2_markdown
from lmev2.report.typeset import write_table2_html, write_table2_latex
from lmev2.report.versus_paper import write_versus_paper
from lmev2.stats.options import DEFAULTS, StatsOptions
from lmev2.store import read_rows

TITLE = "Accuracy and mean query latency"
# Variant -> what its title adds, and whether a subset of the `accuracy` table belongs to it.
VARIANTS = {
    "judge_free": ("questions that need no judge", lambda subset: subset == "judge_free"),
    "domains": ("by domain", lambda subset: subset.startswith("domain=")),
    "abstention": ("abstention apart", lambda subset: subset in ("answerable", "abstention")),
}


def write_table2(
    accuracy: str | Path,
    latency: str | Path,
    significance: str | Path,
    out: Mapping[str, str | Path],
    *,
    methods: Sequence[Mapping[str, Any]],
    tiers: Sequence[str],
    source: Source,
    options: StatsOptions = DEFAULTS,
) -> None:
    """Write Table 2 (paper, section 5), its variants, the comparison with the paper and the tests.

    Args:
        accuracy: the `accuracy` file.
        latency: the `latency` file.
        significance: the `significance` file.
        out: files by name: `csv`, `md`, `tex`, `html`; `{variant}_csv` and `{variant}_md` of each variant
            (latencies there are over all questions too); `vs_paper`, `comparisons`.
        methods: one mapping an arm, in the order of the rows: `id`, `operating_point`, `label`,
            `family`, `ablation_of`, `labels`.
        tiers: tiers in the order of the columns.
        source: dataset and models.
        options: the statistics behind intervals and marks.

    Raises:
        ValueError: a method has no result in any tier.
    """
    tables = read_table2(accuracy, latency, significance, methods, tiers, options)
    whole = tables["all"]
    write_table2_csv(out["csv"], [whole], source)
    write_table2_markdown(out["md"], [whole], source, TITLE)
    write_table2_latex(out["tex"], whole, source, TITLE)
    write_table2_html(out["html"], whole, source, TITLE)
    for variant, (title, belongs) in VARIANTS.items():
        # A dataset may have no question of the kind: the file then has the methods without figures.
        chosen = [table for subset, table in tables.items() if belongs(subset)] or [whole.emptied(variant)]
        write_table2_csv(out[f"{variant}_csv"], chosen, source)
        write_table2_markdown(out[f"{variant}_md"], chosen, source, f"{TITLE}, {title}")
    write_versus_paper(out["vs_paper"], accuracy, latency, source)
    write_comparisons(out["comparisons"], read_rows(significance), source, options)
