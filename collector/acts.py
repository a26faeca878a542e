"""What policies are written with: views of a page, and acts on its elements.

A policy is a generator: it yields acts ("click the button called X") and receives the new view after each,
so it can react to the page. The element's id is looked up in the live tree, so that the recorded action is
BrowserGym's own string, such as `click('143')`.
"""

import ast
import hashlib
import re
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any

_LINE = re.compile(
    r"^\t*\[(?P<bid>\w+)\] (?P<role>\w+) (?P<name>'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")(?P<rest>.*)$"
)


class PolicyError(RuntimeError):
    """The page does not hold the element that the policy asked for."""


@dataclass
class View:
    """A page as the policy sees it."""

    tree: str
    url: str
    error: str = ""  # of the last action

    def find(
        self,
        role: str,
        name: str | re.Pattern[str],
        nth: int = 0,
        *,
        visible: bool = False,
        after: str | None = None,
    ) -> str:
        """The id of an element.

        Args:
            role: its role.
            name: its name, or a pattern that occurs in it.
            nth: which of several; negative from the end.
            visible: only those in the viewport.
            after: only those below the first line that holds this text.

        Raises:
            PolicyError: there is none.
        """
        lines = self.tree.splitlines()
        if after is not None:
            start = next((i for i, line in enumerate(lines) if after in line), len(lines))
            lines = lines[start:]
        hits = []
        for match in filter(None, map(_LINE.match, lines)):
            label = ast.literal_eval(match["name"]).strip()
            fits = bool(name.search(label)) if isinstance(name, re.Pattern) else label == name
            if match["role"] == role and fits and (not visible or ", visible" in match["rest"]):
                hits.append(match["bid"])
        if not -len(hits) <= nth < len(hits):
            raise PolicyError(f"no {role} {name!r} [{nth}] on {self.url}\n{self.tree[:6000]}")
        return hits[nth]

    def has(self, text: str) -> bool:
        """Whether the page's tree holds the text."""
        return text in self.tree


@dataclass
class Act:
    """One intended action; `build` turns it into an action string for the page at hand."""

    thought: str
    build: Callable[[View], str]


Policy = Generator[Act, View, None]


def _on_element(
    call: str, role: str, name: str | re.Pattern[str], nth: int, *values: Any, **find: Any
) -> Any:
    def build(view: View) -> str:
        arguments = (view.find(role, name, nth, **find), *values)
        return f"{call}({', '.join(map(repr, arguments))})"

    return build


def click(role: str, name: str | re.Pattern[str], thought: str, nth: int = 0, **find: Any) -> Act:
    """Click an element; `find` are further arguments of `View.find`."""
    return Act(thought, _on_element("click", role, name, nth, **find))


def fill(
    name: str | re.Pattern[str], value: str, thought: str, nth: int = 0, role: str = "textbox", **find: Any
) -> Act:
    """Write into a field."""
    return Act(thought, _on_element("fill", role, name, nth, value, **find))


def select(
    name: str | re.Pattern[str], value: str, thought: str, nth: int = 0, role: str = "combobox", **find: Any
) -> Act:
    """Choose an option of a list."""
    return Act(thought, _on_element("select_option", role, name, nth, value, **find))


def press(role: str, name: str | re.Pattern[str], key: str, thought: str, nth: int = 0, **find: Any) -> Act:
    """Press a key on an element."""
    return Act(thought, _on_element("press", role, name, nth, key, **find))


def check(
    name: str | re.Pattern[str], thought: str, nth: int = 0, role: str = "checkbox", **find: Any
) -> Act:
    """Tick a box."""
    return Act(thought, _on_element("check", role, name, nth, **find))


def _fixed(thought: str, action: str) -> Act:
    return Act(thought, lambda view: action)


def goto(url: str, thought: str) -> Act:
    """Go to an address."""
    return _fixed(thought, f"goto({url!r})")


def go_back(thought: str) -> Act:
    """Go back to the page before."""
    return _fixed(thought, "go_back()")


def scroll(dy: int, thought: str) -> Act:
    """Scroll down by `dy` pixels."""
    return _fixed(thought, f"scroll(0, {dy})")


def noop(thought: str) -> Act:
    """Do nothing for a moment."""
    return _fixed(thought, "noop()")


def say(text: str, thought: str) -> Act:
    """Give the answer to the user."""
    return _fixed(thought, f"send_msg_to_user({text!r})")


def infeasible(text: str, thought: str) -> Act:
    """Tell the user that it cannot be done."""
    return _fixed(thought, f"report_infeasible({text!r})")


@dataclass
class Job:
    """One trajectory to record.

    Attributes:
        key: unique, stable name; the trajectory id is derived from it.
        family: its task family.
        app: part of the application, as families.json has it.
        domain: web or enterprise.
        environment: as questions name it.
        goal: what the agent is told.
        outcome: success or failure; policies know what they will come to.
        start_url: where it begins.
        policy: makes the generator.
        login: signs in, given Playwright's page.
        max_steps: after which the run is cut.
        delay: seconds before an observation; longer for pages that load their tables late.
        colours: of its screenshots; pages that use few need few.
    """

    key: str
    family: str
    app: str
    domain: str
    environment: str
    goal: str
    outcome: str
    start_url: str
    policy: Callable[[], Policy]
    login: Callable[[Any], None] | None = None
    max_steps: int = 15
    delay: float = 0.25
    colours: int = 12

    @property
    def id(self) -> str:
        """The trajectory id."""
        return hashlib.sha256(("lme-mini/" + self.key).encode()).hexdigest()[:8]
