"""The explorer in a real browser: what pages show, keys, hostile text, contrast, and a moved folder."""

import shutil
from itertools import pairwise
from pathlib import Path

import pytest
from explorer_data import Plan, make_site

from lmev2.explorer.screenshots import Settings

playwright = pytest.importorskip("playwright.sync_api")

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
PROGRAM = next(filter(None, map(shutil.which, NAMES)), None)
pytestmark = [
    pytest.mark.browser,
    pytest.mark.xdist_group("browser"),
    pytest.mark.skipif(PROGRAM is None, reason="no Chromium here: tests/setup_browser.sh installs one"),
]

HOSTILE = (
    '</script><script>pwned=1</script><img src=x onerror="pwned=2">\'"><svg onload=pwned=3>'
    '<a href="javascript:pwned=4">a</a><style>*{display:none}</style>{{7*7}}${7*7}<!--\u2028\u2029]]>\\'
)
PLAIN = Plan(tiers=("small", "medium"), questions=8, repeats=2)


def hostile(kind):
    return f"{kind} {HOSTILE}"


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=PROGRAM)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    return make_site(tmp_path_factory.mktemp("plain"), PLAIN)


@pytest.fixture(scope="module")
def hostile_site(tmp_path_factory):
    return make_site(tmp_path_factory.mktemp("hostile"), Plan(text=hostile, questions=4))


@pytest.fixture
def page(browser):
    """A page that must write nothing to the console; what it did is in `page.faults`."""
    context = browser.new_context(viewport={"width": 1280, "height": 860})
    page = context.new_page()
    page.faults = []
    page.on("console", lambda message: page.faults.append(message.text))
    page.on("pageerror", lambda error: page.faults.append(str(error)))
    page.on("dialog", lambda dialog: page.faults.append(dialog.message))
    yield page
    context.close()
    assert page.faults == []


def show(page, site, address=""):
    page.goto("about:blank")
    page.goto(site.as_uri() + address)
    page.wait_for_selector("html[data-ready=yes]")


def until(page, expression):
    """Wait until an expression is true; Playwright's own way needs eval, which the page forbids."""
    for _ in range(200):
        if page.evaluate(expression):
            return
        page.wait_for_timeout(25)
    raise AssertionError(f"never true: {expression}")


def open_folds(page):
    """Open all that can be opened, and wait until it is filled."""
    for _ in range(3):
        page.evaluate("document.querySelectorAll('#view details').forEach((node) => { node.open = true })")
        page.wait_for_timeout(60)
    until(
        page,
        "[...document.querySelectorAll('#view .fold > .fold-body')].every((node) => node.childNodes.length)",
    )


def names_of_rows(page):
    return page.locator(".matrix .body .row .name").all_inner_texts()


# -- pages ---------------------------------------------------------------------------------------------


def test_the_summary_names_results_making_and_warnings(page, site):
    show(page, site)
    text = page.locator("#summary").inner_text()
    for wanted in (
        "Table 2",
        "Figure 6",
        "embedded:extractive",
        "Errors, scored 0",
        "Missing screenshots",
        "abc",
    ):
        assert wanted in text, wanted
    assert page.locator(".notice").inner_text().startswith("Embedded models")
    assert page.locator(".results tbody tr").count() == 2 * 3
    assert page.evaluate("document.querySelector('.figure').naturalWidth") == 400


def test_the_matrix_filters_sorts_and_opens_an_answer(page, site):
    show(page, site, "#/answers")
    assert len(names_of_rows(page)) == 8
    signs = page.locator(".matrix .body .cell").all_inner_texts()
    assert len(signs) == 8 * 3 and {"✓", "✕", "?", "!"} >= set(signs) >= {"✓", "✕"}  # not by colour alone
    page.get_by_label("Domain").select_option("enterprise")
    assert len(names_of_rows(page)) == 4
    page.get_by_label("Ability").select_option("abstention")
    assert len(names_of_rows(page)) == 2
    page.get_by_role("button", name="Clear").click()
    until(page, "document.querySelectorAll('.matrix .body .row').length === 8")
    page.get_by_label("Search").fill("question 5")
    assert names_of_rows(page) == ["some question 5"]
    assert "q=question+5" in page.evaluate("location.hash")  # a deep link to what is seen
    page.get_by_label("Search").fill("")
    page.get_by_label("one").select_option("plain")
    page.get_by_label("other").select_option("agent")
    rows = page.locator(".matrix .body .row").all()
    assert 0 < len(rows) < 8
    for row in rows:
        first, _, third = row.locator(".cell").all_inner_texts()
        assert (first == "✓") != (third == "✓")
    page.locator(".matrix .body .row").first.locator(".cell").nth(2).click()
    page.wait_for_selector(".panel")
    assert "some label agent" in page.locator(".panel h2").inner_text()


def test_the_keyboard_goes_through_the_answers(page, site):
    show(page, site, "#/answers")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement.textContent") == "some question 1"
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.className").startswith("cell")
    assert "plain, small:" in page.locator("#status").inner_text()
    page.keyboard.press("Enter")
    page.wait_for_selector(".panel")
    assert "some question 2" in page.locator("h1.asked").inner_text()
    page.keyboard.press("j")
    until(page, "document.querySelector('h1.asked')?.textContent === 'some question 3'")
    page.keyboard.press("h")
    page.wait_for_selector(".trajectories")
    page.keyboard.press("u")
    page.wait_for_selector(".panel")
    page.keyboard.press("/")
    page.keyboard.press("?")
    assert page.locator("#keys").is_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("t")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"


def test_a_question_shows_answers_verdicts_and_contexts(page, site):
    show(page, site, "#/question/some id1?tier=small&methods=runbook,agent")
    open_folds(page)
    panels = page.locator(".panel")
    assert panels.count() == 2
    runbook, agent = panels.nth(0).inner_text(), panels.nth(1).inner_text()
    assert panels.nth(0).locator("mark.boxed").inner_text() == "\\boxed{some prediction}"
    for wanted in (
        "some slice query",
        "some note query",
        "0.500",
        "left out",
        "some reason",
        "model or agent 100 ms",
        "1,000",
    ):
        assert wanted in runbook, wanted
    for wanted in (
        "some markdown",
        "raw trajectories",
        "200 ms",
        "exit 1",
        "some output",
        "Attempt 2 of 2",
        "some fault",
    ):
        assert wanted in agent, wanted
    assert panels.nth(0).locator(".pieces > .state").count() == 2  # pieces that show an evidence state
    assert panels.nth(0).locator(".pieces > .cut").count() == 1
    assert "RootWebArea 'some tree'" in panels.nth(0).locator("pre.tree").first.inner_text()
    assert (
        panels.nth(0)
        .locator(".strip img")
        .evaluate("async (image) => (await image.decode(), image.naturalWidth)")
        == 80
    )
    # Answers of all methods, with the places of the first evidence.
    assert page.locator("table.answers tbody tr").count() == 3
    assert page.locator("table.answers tbody tr").first.locator("td").all_inner_texts()[-2:] == ["1", "2"]
    page.get_by_label("Repeat").select_option("2")
    until(page, "location.hash.includes('repeat=1')")


def test_the_image_of_a_question_opens_large(page, site):
    show(page, site, "#/question/some id0")
    page.locator(".question-image button").click()
    assert page.locator("#picture").is_visible()
    page.keyboard.press("Escape")
    assert not page.locator("#picture").is_visible()


def test_haystack_and_trajectory_mark_the_evidence(page, site):
    show(page, site, "#/haystack/some id1?tier=medium")
    assert page.locator("table.trajectories tbody tr").count() == 3
    assert page.locator("tr.answer").count() == 1
    page.get_by_label("answer trajectories only").check()
    assert page.locator("table.trajectories tbody tr").count() == 1
    page.locator("tr.answer a").click()
    page.wait_for_selector(".film")
    frames = page.locator(".frame")
    assert [frames.nth(at).get_attribute("aria-current") for at in range(3)] == ["false", "true", "false"]
    assert page.locator(".frame.evidence").count() == 2
    assert page.locator(".half .no-picture").inner_text() == "no screenshot"  # state 1 has none
    page.keyboard.press("ArrowRight")
    assert "State 2" in page.locator(".stage h2").inner_text()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("k")
    assert "[0] button 'Go'" in page.locator(".target").first.inner_text()  # what the next action clicks
    page.get_by_label("Find in the tree").fill("button")
    assert page.locator(".tree mark").count() == 20
    show(page, site, "#/trajectories")
    assert page.locator("table.trajectories tbody tr").count() == 3


@pytest.mark.parametrize("address", ["#/question/none", "#/trajectory/none", "#/haystack/none", "#/nowhere"])
def test_a_link_to_nothing_says_so(page, site, address):
    show(page, site, address)
    assert page.locator("h1:visible").count() == 1


# -- safety ----------------------------------------------------------------------------------------------


def test_hostile_text_is_shown_and_never_run(page, hostile_site):
    quoted = page.evaluate("encodeURIComponent", hostile("id"))
    addresses = [
        "",
        "#/answers",
        "#/trajectories",
        f"#/haystack/{quoted}0",
        f"#/trajectory/{quoted}0?state=2&question={quoted}0",
    ]
    addresses += [f"#/question/{quoted}{number}?methods=plain,runbook,agent" for number in range(2)]
    for address in addresses:
        show(page, hostile_site, address)
        if "question/" in address:
            open_folds(page)
        assert page.evaluate("window.pwned") is None, address
        assert (
            page.locator("img[src=x], body script:not([src]), #view style, a[href^='javascript']").count()
            == 0
        )
        assert HOSTILE.partition("{{")[0] in page.locator("main").text_content(), address
        assert "49" not in page.title()
    assert "onerror" in page.title()


def test_markup_that_got_in_would_not_run(browser, hostile_site):
    """The policy in the page's head is in force from disk, too."""
    page = browser.new_page()
    show(page, hostile_site)
    page.evaluate(
        "document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.pwned=1\">');"
        "const script = document.createElement('script'); script.textContent = 'window.pwned=2';"
        "document.body.append(script);"
    )
    page.wait_for_timeout(200)
    assert page.evaluate("window.pwned") is None
    page.close()


# -- looks -----------------------------------------------------------------------------------------------

OUTLINE = """() => {
  const style = getComputedStyle(document.activeElement);
  return [parseFloat(style.outlineWidth), style.outlineStyle];
}"""
LOOKS = Path(__file__).with_name("looks.js").read_text(encoding="utf-8").partition("\n")[2].rstrip(";\n")
PAGES = (
    "",
    "#/answers",
    "#/question/some id1?methods=runbook,agent",
    "#/haystack/some id1",
    "#/trajectory/some id1?state=1&question=some id1",
)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_every_page_can_be_read(browser, site, scheme, width):
    context = browser.new_context(viewport={"width": width, "height": 844}, color_scheme=scheme)
    page = context.new_page()
    faults = []
    page.on("console", lambda message: faults.append(message.text))
    for address in PAGES:
        show(page, site, address)
        if "question/" in address:
            open_folds(page)
        looks = page.evaluate(LOOKS)
        headings = looks.pop("headings")
        assert looks == {"faint": [], "unnamed": [], "sideways": 0}, address
        assert headings.count(1) == 1
        assert all(after - before <= 1 for before, after in pairwise(headings)), headings
    assert faults == []
    context.close()


def test_the_focus_can_be_seen_and_goes_in_order(page, site):
    show(page, site, "#/answers")
    seen = []
    for _ in range(9):
        page.keyboard.press("Tab")
        seen.append(
            page.evaluate(
                "document.activeElement.textContent.trim().slice(0, 12) || document.activeElement.id"
            )
        )
        width, style = page.evaluate(OUTLINE)
        assert width >= 2, seen
        assert style != "none", seen
    assert seen[:5] == ["Skip to cont", "LongMemEval-", "Summary", "Answers", "Trajectories"]


# -- a folder to send --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "width"),
    [
        (Settings("link", 480, True), 80),
        (Settings("thumbnails", 40, True), 40),
    ],
)
def test_a_self_contained_explorer_works_alone(page, tmp_path, settings, width):
    made = make_site(tmp_path / "made", Plan(settings=settings))
    moved = Path(shutil.move(made.parent, tmp_path / "elsewhere"))
    shutil.rmtree(tmp_path / "made")
    requests = []
    page.on("request", lambda request: requests.append(request.url))
    show(page, moved / "index.html", "#/trajectory/some id0?state=0")
    assert (
        page.locator(".half img").evaluate("async (image) => (await image.decode(), image.naturalWidth)")
        == width
    )
    show(page, moved / "index.html", "#/question/some id0?methods=agent")
    open_folds(page)
    page.locator(".strip img").first.evaluate("(image) => image.decode()")
    inside = moved.as_uri()
    assert all(url.startswith((inside, "about:")) for url in requests), requests


def test_links_to_a_dataset_that_is_gone_say_so(browser, tmp_path):
    made = make_site(tmp_path, Plan())
    shutil.rmtree(tmp_path / "dataset")
    page = browser.new_page()
    show(page, made, "#/trajectory/some id0?state=0")
    until(page, "document.querySelector('.half .no-picture')?.textContent === 'screenshot not found'")
    page.close()
