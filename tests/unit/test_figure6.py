import csv
import itertools

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image
from stats_data import MODELS, bits, method, score_rows, write_scores

from lmev2.report.captions import Source
from lmev2.report.figure6 import plot_figure6
from lmev2.report.labels import place_labels
from lmev2.report.lafs import lafs, lafs_gain
from lmev2.report.latency_axis import LatencyAxis
from lmev2.report.operating_points import Point, best_points, mark_frontier
from lmev2.report.paper import reference_frontier
from lmev2.stats.accuracy import tabulate_accuracy, tabulate_latency
from lmev2.stats.intervals import wilson

MINI = Source("mini", MODELS)
METHODS = [
    method("none", label="No retrieval"),
    method("rag", label="RAG: query → slice"),
    method("rag", operating_point="low", label="RAG: query → slice"),
    method("less", label="− notes", ablation_of="rag"),
]


def rows(missing=()):
    arms = {("none", ""): ("0000", 0.0), ("rag", ""): ("1110", 20.0), ("rag", "low"): ("1000", 0.5)}
    arms["less", ""] = ("1100", 30.0)
    return [
        row
        for (name, point), (text, latency) in arms.items()
        for row in score_rows(
            name, bits(text), operating_point=point, latency_s=None if name in missing else latency
        )
    ]


def plot(folder, stage_rows, methods=METHODS, source=MINI, **options):
    folder.mkdir(exist_ok=True)
    scores = write_scores(folder / "scores", stage_rows)
    tabulate_accuracy(scores, folder / "accuracy")
    tabulate_latency(scores, folder / "latency")
    paths = [folder / f"figure6.{ending}" for ending in ("png", "pdf", "csv")]
    plot_figure6(
        *(folder / "accuracy", folder / "latency", *paths, folder / "lafs.csv"),
        **{"methods": methods, "tiers": ["small"], "source": source} | options,
    )
    return read_csv(paths[2]), paths


def read_csv(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_points_in_the_csv(tmp_path):
    table, _ = plot(tmp_path, rows())
    columns = (
        "method,operating_point,label,family,tier,accuracy,low,high,latency_s,on_frontier,dataset,models"
    )
    assert list(table[0]) == columns.split(",")
    assert [(r["method"], r["operating_point"], r["latency_s"], r["on_frontier"]) for r in table] == [
        ("none", "", "0", "true"),
        ("rag", "", "20", "true"),
        ("rag", "low", "0.5", "true"),
        ("less", "", "30", "false"),
    ]
    low, high = wilson(0.75, 4)
    assert (table[1]["accuracy"], table[1]["low"], table[1]["high"]) == (
        "0.7500",
        f"{low:.4f}",
        f"{high:.4f}",
    )
    assert table[1]["models"] == "reader embedded:extractive; judge openai:gpt-5.2"


def test_files_are_the_same_bytes_and_undated(tmp_path):
    _, first = plot(tmp_path / "first", rows())
    _, second = plot(tmp_path / "second", rows())
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]
    assert b"CreationDate" not in first[1].read_bytes()
    with Image.open(first[0]) as image:
        assert image.size[0] == 1040
        assert set(image.info) == {"dpi"}


def test_an_arm_without_latency_stays_in_the_csv(tmp_path):
    table, _ = plot(tmp_path, rows(missing=("rag",)))
    assert [(r["method"], r["latency_s"], r["on_frontier"]) for r in table] == [
        ("none", "0", "true"),
        ("rag", "", "false"),
        ("rag", "", "false"),
        ("less", "30", "true"),
    ]


def test_draws_where_all_latencies_are_zero_or_none_is_known(tmp_path):
    for name, latency in (("zero", 0.0), ("none", None)):
        table, _ = plot(tmp_path / name, score_rows("none", bits("10"), latency_s=latency))
        assert len(table) == 1


def frontier(*points):
    marked = mark_frontier([Point(f"m{i}", "", "small", a, 0, 1, s) for i, (a, s) in enumerate(points)])
    return [point.on_frontier for point in marked]


def test_frontier():
    assert frontier((0.5, 1), (0.6, 2), (0.55, 3), (0.6, 3)) == [True, True, False, False]
    assert frontier((0.5, 1), (0.4, 1), (0.5, 1)) == [True, False, True]  # equal points share it
    assert frontier((0.0, 0.0), (0.9, None), (0.0, 5)) == [True, False, False]


def test_tiers_have_frontiers_of_their_own():
    points = [Point("a", "", "small", 0.9, 0, 1, 1.0), Point("a", "", "medium", 0.1, 0, 1, 9.0)]
    assert [point.on_frontier for point in mark_frontier(points)] == [True, True]


def test_zero_stands_left_of_all_latencies_under_a_tick_that_says_so():
    axis = LatencyAxis.around([0.0, 0.1, 200.0])
    assert axis.place(0.0) < axis.low < 0.1
    assert axis.place(0.1) == 0.1
    figure = Figure()
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    axis.apply(axes)
    figure.canvas.draw()
    ticks = dict(zip((label.get_text() for label in axes.get_xticklabels()), axes.get_xticks(), strict=True))
    assert list(ticks) == ["<0.001", "0.1", "1", "10", "100"]
    assert ticks["<0.001"] == axis.place(0.0) == axis.place(0.0009)
    assert axes.get_xlim()[0] < ticks["<0.001"]


@pytest.mark.parametrize("latencies", [[1.0], [0.2, 0.3], []])
def test_the_axis_spans_a_decade_with_ticks(latencies):
    axis = LatencyAxis.around(latencies)
    assert axis.high / axis.low >= 9.99
    axes = Figure().subplots()
    axis.apply(axes)
    assert len(axes.get_xticks()) >= 3
    assert not axis.has_less


def test_labels_do_not_cover_each_other_nor_leave_the_axes():
    figure = Figure(figsize=(5, 4.5))
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    points = [(0.5 + 0.03 * (i % 4), 0.5 + 0.03 * (i // 4)) for i in range(12)] + [(1, 1), (0, 0)]
    axes.set(xlim=(0, 1), ylim=(0, 1))
    labels = place_labels(axes, points, [f"some method {i}" for i in range(14)], ["black"] * 14)
    boxes = [label.get_window_extent() for label in labels]
    assert not [pair for pair in itertools.combinations(boxes, 2) if pair[0].overlaps(pair[1])]
    frame = axes.get_window_extent()
    assert all(frame.x0 <= box.x0 and box.x1 <= frame.x1 for box in boxes)
    assert all(frame.y0 <= box.y0 and box.y1 <= frame.y1 for box in boxes)
    spots = axes.transData.transform(points)
    assert not [box for box in boxes for spot in spots if box.contains(*spot)]


REAL = Source("lme", {"reader": {"provider": "openai", "model": "m"}}, released=True)


def test_latency_aware_scores(tmp_path):
    plot(tmp_path, rows(missing=("less",)))
    scores = {row["method"]: row for row in read_csv(tmp_path / "lafs.csv")}
    assert list(scores) == ["all", "none", "rag"]
    assert (scores["rag"]["operating_points"], scores["rag"]["label"]) == ("2", "RAG: query → slice")
    assert float(scores["rag"]["lafs"]) == pytest.approx(lafs([(0.75, 20), (0.25, 0.5)]), abs=5e-4)
    assert (scores["rag"]["reference_lafs"], scores["rag"]["lafs_gain"]) == ("", "")
    assert scores["rag"]["note"].startswith("Nothing is comparable with the paper: the dataset (mini)")
    assert scores["all"]["label"] == "all methods together"


def test_the_reference_frontier_stands_where_it_compares(tmp_path):
    plot(tmp_path, rows(), source=REAL)
    scores = {row["method"]: row for row in read_csv(tmp_path / "lafs.csv")}
    assert scores["rag"]["reference_lafs"] == "55.765"
    gain = lafs_gain(reference_frontier("small"), [(0.75, 20), (0.25, 0.5)])
    assert float(scores["rag"]["lafs_gain"]) == pytest.approx(gain, abs=1e-6)
    assert scores["rag"]["note"] == ""
    pictures = {}
    for reference in ("auto", "never", "always"):
        _, paths = plot(tmp_path / reference, rows(), source=REAL, reference=reference)
        pictures[reference] = paths[0].read_bytes()
        found = read_csv(tmp_path / reference / "lafs.csv")[0]["lafs_gain"]
        assert bool(found) == (reference != "never")
    assert pictures["auto"] == pictures["always"] != pictures["never"]


def test_methods_that_read_the_labels_are_left_out(tmp_path):
    methods = [*METHODS, method("oracle", family="pilot", labels=True)]
    table, _ = plot(tmp_path, rows() + score_rows("oracle", bits("1111"), latency_s=1.0), methods)
    assert {row["method"] for row in table} == {"none", "rag", "less"}


def test_best_points():
    assert best_points([(0.7, 5), (0.5, 1), (0.6, 9), (0.5, 2)]) == [(1, 0.5), (5, 0.7)]
