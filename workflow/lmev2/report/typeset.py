"""Table 2 as LaTeX (booktabs) and as an HTML page: families grouped, the best of each bold."""

from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

from lmev2.report.captions import Source
from lmev2.report.numbers import short_accuracy, short_seconds
from lmev2.report.table2 import Table2, bare_label, caption_sentences, is_ablation
from lmev2.stats.columns import COLUMNS
from lmev2.store import write_text

_LATEX = {
    "\\": r"\textbackslash{}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "|": r"\textbar{}",  # the default font shows it as a dash
    "→": r"$\rightarrow$",
    "−": "$-$",
    "<": "$<$",
    ">": "$>$",
}
_BOLD = "Bold: best of its family, ablations left out."
_STYLE = """\
body { font: 15px/1.4 sans-serif; margin: 2em; color: #222; max-width: 75em; }
table { border-collapse: collapse; border-top: 2px solid; border-bottom: 2px solid; }
th, td { padding: .2em .6em; text-align: right; font-variant-numeric: tabular-nums; }
th:first-child, td:first-child { text-align: left; }
thead tr:last-child th, tbody + tbody tr:first-child td { border-top: 0; border-bottom: 0; }
tbody tr:first-child td { border-top: 1px solid; }
thead .tier { text-align: center; border-bottom: 1px solid; }
td.ablation { padding-left: 1.8em; }
caption { caption-side: bottom; text-align: left; padding-top: .8em; font-size: 90%; }"""


def write_table2_latex(path: str | Path, table: Table2, source: Source, title: str) -> None:
    r"""Write Table 2 as a LaTeX table* for `\input`; it needs the package booktabs."""
    per_tier = len(COLUMNS) + 1
    rules = " ".join(
        rf"\cmidrule(lr){{{2 + i * per_tier}-{1 + (i + 1) * per_tier}}}" for i in range(len(table.tiers))
    )
    groups = [rf"\multicolumn{{{per_tier}}}{{c}}{{{_tex(tier)}}}" for tier in table.tiers]
    heads = [*COLUMNS, "s"] * len(table.tiers)
    sizes = [size for tier in table.tiers for size in (*(str(table.n(tier, c)) for c in COLUMNS), "")]
    lines = [
        "% Table 2; needs \\usepackage{booktabs}.",
        r"\begin{table*}",
        r"\centering\footnotesize\setlength{\tabcolsep}{4pt}",
        rf"\begin{{tabular}}{{l{'r' * len(heads)}}}",
        r"\toprule",
        _tex_line(["", *groups]),
        rules,
        _tex_line(["method", *heads]),
        _tex_line(["$n$", *sizes]),
    ]
    for family in table.families():
        lines.append(r"\midrule")
        lines += [_tex_line(_tex_row(table, method)) for method in family]
    lines += [
        r"\bottomrule",
        r"\end{tabular}",
        # LaTeX numbers tables itself.
        rf"\caption{{{_tex(' '.join(caption_sentences(table, source, title)).removeprefix('Table 2. '))} "
        rf"{_BOLD}}}",
        r"\end{table*}",
    ]
    write_text("\n".join(lines) + "\n", path)


def write_table2_html(path: str | Path, table: Table2, source: Source, title: str) -> None:
    """Write Table 2 as an HTML page of its own."""
    per_tier = len(COLUMNS) + 1
    groups = "".join(f'<th class="tier" colspan="{per_tier}">{escape(tier)}</th>' for tier in table.tiers)
    heads = "".join(
        "".join(f"<th>{escape(c)}<br><small>n = {table.n(tier, c)}</small></th>" for c in COLUMNS)
        + "<th>latency (s)</th>"
        for tier in table.tiers
    )
    bodies = [
        "<tbody>\n" + "\n".join(_html_row(table, method) for method in family) + "\n</tbody>"
        for family in table.families()
    ]
    caption = escape(" ".join(caption_sentences(table, source, title)) + f" {_BOLD}")
    write_text(
        "\n".join(
            [
                '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
                f"<title>Table 2: {escape(source.dataset)}</title>",
                f"<style>\n{_STYLE}\n</style>\n</head>\n<body>",
                f"<table>\n<caption>{caption}</caption>",
                f"<thead>\n<tr><th></th>{groups}</tr>\n<tr><th>method</th>{heads}</tr>\n</thead>",
                *bodies,
                "</table>\n</body>\n</html>\n",
            ]
        ),
        path,
    )


def _tex(text: str) -> str:
    return "".join(_LATEX.get(character, character) for character in text)


def _tex_line(cells: list[str]) -> str:
    return " & ".join(cells) + r" \\"


def _tex_row(table: Table2, method: Mapping[str, Any]) -> list[str]:
    cells = [(r"\quad $-$ " if is_ablation(method) else "") + _tex(bare_label(method))]
    for tier in table.tiers:
        values = table.cell(method, tier)
        for column in COLUMNS:
            text = short_accuracy(values.get(column))
            if table.is_best(method, tier, column):
                text = rf"\textbf{{{text}}}"
            cells.append(text + "$^{*}$" * table.is_marked(method, tier, column))
        cells.append(short_seconds(values.get("latency_s")))
    return cells


def _html_row(table: Table2, method: Mapping[str, Any]) -> str:
    name = ("− " if is_ablation(method) else "") + escape(bare_label(method))
    cells = [f'<td class="ablation">{name}</td>' if is_ablation(method) else f"<td>{name}</td>"]
    for tier in table.tiers:
        values = table.cell(method, tier)
        for column in COLUMNS:
            text = short_accuracy(values.get(column))
            if table.is_best(method, tier, column):
                text = f"<strong>{text}</strong>"
            cells.append(f"<td>{text}{'<sup>*</sup>' * table.is_marked(method, tier, column)}</td>")
        cells.append(f"<td>{short_seconds(values.get('latency_s'))}</td>")
    return f"<tr>{''.join(cells)}</tr>"
