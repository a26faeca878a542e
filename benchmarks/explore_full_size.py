"""An explorer of the released dataset's size, opened in Chromium: how large it is, how long its pages take.

    python benchmarks/explore_full_size.py [FOLDER]

451 questions x 20 arms x 2 tiers of made-up text, and 500 of the 1,870 trajectories, to make it sooner.
Needs what the browser tests need (tests/setup_browser.sh).
"""

import random
import shutil
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "unit"))

from explorer_data import Plan, make_site
from playwright.sync_api import sync_playwright

PROGRAM = next(filter(None, map(shutil.which, ("chromium-headless-shell", "chromium", "google-chrome"))))
WORDS = [f"word{number}" for number in range(5000)]
ARMS = tuple(f"{kind}{number}" for number in range(7) for kind in ("runbook", "agent", "plain"))[:20]
RANDOM = random.Random(0)


def tree(text, state):
    """About 12,000 characters, as the paper's trees have."""
    return "\n".join(
        f"\t\t[{line}] link '{RANDOM.choice(WORDS)} {RANDOM.choice(WORDS)}', clickable" for line in range(280)
    )


def text(kind):
    """Reasoning and contexts' own texts long, as a thinking reader's; the rest short."""
    length = {"reasoning": 2500, "question": 30, "notes": 500, "markdown": 300, "output": 300}.get(kind, 4)
    return (
        " ".join(RANDOM.choices(WORDS, k=length))
        if kind in ("reasoning", "notes", "output")
        else f"some {kind}"
    )


def timed(what, action):
    """Do it and say how long it took."""
    began = time.perf_counter()
    result = action()
    print(f"{what}: {1000 * (time.perf_counter() - began):.0f} ms", flush=True)
    return result


def main():
    """Make it, measure it, open it."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(tempfile.mkdtemp())
    plan = Plan(
        text=text,
        questions=451,
        trajectories=500,
        states=28,
        tiers=("small", "medium"),
        arms=ARMS,
        haystack=500,
        tree=tree,
    )
    page_file = timed("make", lambda: make_site(folder, plan))
    data = page_file.parent / "data"
    for part in sorted(data.iterdir()):
        files = [part] if part.is_file() else [path for path in part.rglob("*") if path.is_file()]
        print(f"{part.name}: {sum(path.stat().st_size for path in files) / 1e6:.1f} MB in {len(files)} files")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=PROGRAM)
        page = browser.new_page(viewport={"width": 1280, "height": 860})

        def show(address):
            page.goto("about:blank")
            page.goto(page_file.as_uri() + address)
            page.wait_for_selector("html[data-ready=yes]")

        def filtering(label, value):
            script = """([label, value]) => {
              const fields = [...document.querySelectorAll("label.field")];
              const field = fields.find((node) => node.textContent.startsWith(label));
              const input = field.querySelector("select, input");
              input.value = value;
              const began = performance.now();
              input.dispatchEvent(new Event(input.tagName === "SELECT" ? "change" : "input"));
              document.body.offsetHeight;
              return performance.now() - began;
            }"""
            print(f"filter {label} {value!r}: {page.evaluate(script, [label, value]):.0f} ms")

        timed("summary", lambda: show(""))
        timed("answers, 20 columns", lambda: show("#/answers"))
        filtering("Domain", "web")
        filtering("Domain", "")
        filtering("Sort", "hard")
        filtering("Search", "question 17")
        filtering("Search", "")
        timed("answers, 40 columns", lambda: show("#/answers?tier=both"))
        filtering("Ability", "static")
        filtering("Ability", "")
        timed("question, one method", lambda: show("#/question/some id17?methods=runbook0"))
        timed(
            "question, four methods",
            lambda: show("#/question/some id18?tier=medium&methods=runbook0,agent0,plain0,runbook1"),
        )
        timed("haystack", lambda: show("#/haystack/some id17?tier=medium"))
        timed("trajectory", lambda: show("#/trajectory/some id17?state=9"))
        timed("trajectories", lambda: show("#/trajectories"))
        browser.close()


if __name__ == "__main__":
    main()
