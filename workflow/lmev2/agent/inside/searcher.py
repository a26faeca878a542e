"""The embedded coding agent: a deterministic program that searches the folder it is started in.

    python -I searcher.py EFFORT

It reads the task and INSTRUCTION.md, uses the manifests and the helper script if they are there and the
raw files if not, and writes memory_module_output.json. The effort says how many trajectories it opens. It
prints the event stream that Codex prints; each command in it is what it did, as a shell would be told (it
reads files itself and runs the helper in its own process: one start of Python a query, not twenty).

General rules only: words of the question, weighted by how rare they are in what was read. No model.
"""

import contextlib
import io
import json
import math
import re
import runpy
import sys
from pathlib import Path

# effort -> (trajectories opened, states looked at again, spans returned)
EFFORTS = {"low": (2, 1, 2), "medium": (4, 2, 4), "high": (6, 3, 5), "xhigh": (8, 4, 6)}
CONCISE = "trajectories/TRAJECTORY_SUMMARY_CONCISE.md"
FULL = "trajectories/TRAJECTORY_SUMMARY_FULL.md"
HELPER = "scripts/inspect_trajectory.py"
OUTPUT = "memory_module_output.json"
MOST_STATES = 20
NOTES = 12  # lines quoted in the markdown
ENOUGH = 0.9  # share of the question's weight that ends the search, where the workflow says to stop early


def _words(text):
    return frozenset(text.split())


STOPWORDS = _words(
    """a about after again all also an and another any answer appear are as at be because been before
    being between both brief but by can choice choose comma could customized describe did do does
    each either exactly exact final find for form from full get give given go had has have he her
    here how i if in inside instead into is it its just letter letters like list mark me more most
    must my name names no not of off on once one only option options or order other our out over own
    page phrase phrases put question same say see separated short should show shown shows single
    site so some such than that the their them then there these they this those through to too true
    false two under up use used user uses very was we were what when where whether which while who
    whose why will with without word words would yes you your boxed"""
)
WORD = re.compile(r"[^\W_]+(?:[-'’][^\W_]+)*")
QUOTED = re.compile(r"(?<!\w)['\"“‘`]([^'\"”’`\n]{2,80})['\"”’`](?!\w)")


def stem(word):
    """A rough stem: without plural and common verb endings."""
    if len(word) > 4 and word.isalpha():
        for suffix in ("ies", "ing", "ed", "es", "s"):
            if word.endswith(suffix) and len(word) - len(suffix) >= 3 and not word.endswith("ss"):
                return word[: -len(suffix)] + ("y" if suffix == "ies" else "")
    return word


def question_terms(text):
    """The question's words: stem or quoted name -> weight; names weigh more."""
    # What tells the form of the answer says nothing of where it is.
    text = re.sub(r"(?:mark|give|write|put|state) your (?:final )?answer.*", " ", text, flags=re.I | re.S)
    terms = {}
    for phrase in QUOTED.findall(text):
        if WORD.search(phrase):
            terms[phrase.strip().lower()] = 2.0
    for word in WORD.findall(text):
        root = stem(word.lower())
        if word.lower() not in STOPWORDS and (len(root) > 2 or word.isdigit()):
            named = word[0].isupper() or any(char.isdigit() for char in word)
            terms.setdefault(root, 1.3 if named else 1.0)
    return terms


def pattern_of(term):
    """A term as a regular expression: where a word begins."""
    return ("" if term[0] in "-.(" else r"\b") + re.escape(term)


class Session:
    """The search: what was done so far, and the ways to look at things."""

    def __init__(self, effort):
        self.opened, self.checked, self.returned = EFFORTS[effort]
        self.events = 0
        emit({"type": "thread.started", "thread_id": "searcher"})
        emit({"type": "turn.started"})

    def did(self, command, output, code=0):
        """Report a command."""
        item = {"id": f"item_{self.events}", "type": "command_execution", "command": command}
        item |= {"aggregated_output": output[:2000], "exit_code": code, "status": "completed"}
        self.events += 1
        emit({"type": "item.completed", "item": item})

    def read(self, path):
        """A whole small file."""
        text = Path(path).read_text(encoding="utf-8")
        self.did(f"cat {path}", text)
        return text

    def helper(self, *arguments):
        """The helper's output."""
        command = " ".join(["python3", HELPER, *map(quoted_word, arguments)])
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            code = self._helper()(list(arguments))
        self.did(command, out.getvalue(), code)
        return out.getvalue()

    def _helper(self):
        if not hasattr(self, "_main"):
            sys.path.insert(0, str(Path(HELPER).parent.resolve()))
            self._main = runpy.run_path(HELPER)["main"]
        return self._main


def emit(event):
    """One line of the event stream."""
    print(json.dumps(event), flush=True)  # at once: when it comes tells how long the command took


def quoted_word(word):
    """A word as a shell must be given it."""
    return word if re.fullmatch(r"[\w./:=-]+", word) else "'" + word.replace("'", "'\\''") + "'"


def matches(terms, text):
    """Which terms occur in a text."""
    text = text.lower()
    return {term for term in terms if term in text and re.search(pattern_of(term), text)}


def weigh(terms, documents):
    """Weight of each term: the rarer among the documents (sets of terms), the heavier."""
    count = len(documents)
    return {
        term: base * math.log(1 + count / (1 + sum(term in found for found in documents)))
        for term, base in terms.items()
    }


def shortlist_by_manifest(session, terms):
    """All ids, best first, by goal and actions in the full summary."""
    session.did(f"head -5 {CONCISE}", "\n".join(Path(CONCISE).read_text(encoding="utf-8").split("\n")[:5]))
    text = Path(FULL).read_text(encoding="utf-8")
    sections = re.split(r"^## ", text, flags=re.M)[1:]
    found = {section.partition("\n")[0]: matches(terms, section) for section in sections}
    session.did(f"cat {FULL}", text)
    return ranked(found, weigh(terms, list(found.values())))


def shortlist_by_goals(session, terms):
    """All ids, best first, by the goals that a search over all files shows."""
    goals = {}
    for path in sorted(Path("trajectories").glob("*/trajectory.json")):
        with path.open(encoding="utf-8", newline="") as file:
            goals[path.parent.name] = file.read(1500)
    session.did("grep -m1 '\"goal\"' trajectories/*/trajectory.json", "\n".join(goals))
    found = {name: matches(terms, head) for name, head in goals.items()}
    return ranked(found, weigh(terms, list(found.values())))


def ranked(found, weights):
    """The names of some sets of terms, heaviest first, with their weights."""
    scores = {name: sum(weights[term] for term in terms) for name, terms in found.items()}
    return sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))


def states_by_helper(session, terms, name):
    """State -> its lines with words of the question, from the helper."""
    pattern = "|".join(map(pattern_of, terms))
    states, current = {}, None
    for line in session.helper(name, "--match", pattern).split("\n"):
        if match := re.match(r"State (\d+): ", line):
            current = states.setdefault(int(match[1]), [])
        elif current is not None and line.startswith("  ") and not line.startswith("  ... "):
            current.append(line.strip())
    return states


def states_by_file(session, terms, name):
    """State -> its lines with words of the question, from the trajectory's file."""
    path = Path("trajectories", name, "trajectory.json")
    trajectory = json.loads(path.read_text(encoding="utf-8"))
    session.did(f"cat {path}", trajectory["goal"])
    states = {}
    for state in trajectory["states"]:
        lines = [f"URL: {state['url']}", f"Action: {state['action']}", *(state["text"] or "").split("\n")]
        if found := [line.strip()[:400] for line in lines if matches(terms, line)]:
            states[state["state_index"]] = found
    return states


def search(session, terms, instruction):
    """The best states over the shortlist: (score, trajectory, state, lines), best first, and all weights."""
    manifests, helper = Path(FULL).is_file(), Path(HELPER).is_file()
    shortlist = (shortlist_by_manifest if manifests else shortlist_by_goals)(session, terms)
    stop_early = "stop early" in instruction.lower()
    heaviest = max([score for _, score in shortlist] + [1e-9])
    found = {}
    for number, (name, prior) in enumerate(shortlist[: session.opened], 1):
        lines = (states_by_helper if helper else states_by_file)(session, terms, name)
        for state, texts in lines.items():
            found[name, state] = (texts, matches(terms, "\n".join(texts)), prior / heaviest)
        # Half of the shortlist at least: the first hit is not always the best.
        if stop_early and number >= session.opened // 2 and found:
            weights = weigh(terms, [terms_ for _, terms_, _ in found.values()])
            best = max(sum(weights[term] for term in terms_) for _, terms_, _ in found.values())
            if best >= ENOUGH * sum(weights.values()):
                break
    weights = weigh(terms, [terms_ for _, terms_, _ in found.values()])
    total = sum(weights.values()) or 1.0
    scored = [
        (
            sum(weights[term] for term in terms_) / total
            + 0.25 * prior
            # Words that stand together on a line say more than words spread over a page.
            + 0.5
            * max(sum(weights[term] for term in matches(terms, line)) for line in texts or [""])
            / total,
            name,
            state,
            texts,
        )
        for (name, state), (texts, terms_, prior) in found.items()
    ]
    scored.sort(key=lambda hit: (-hit[0], hit[1], hit[2]))
    return scored, weights


def choose_spans(hits, most_spans, width):
    """Spans around the best states: (trajectory, first, last); neighbours that are already in count once."""
    spans, taken, total = [], set(), 0
    for _, name, state, _ in hits:
        if len(spans) == most_spans:
            break
        if (name, state) in taken:
            continue
        first, last = max(0, state - (width - 1) // 2), state + width // 2
        known = sorted(number for _, other, number, _ in hits if other == name)
        last = min(last, known[-1])
        if total + last - first + 1 > MOST_STATES:
            continue
        total += last - first + 1
        taken |= {(name, number) for number in range(first, last + 1)}
        spans.append((name, first, last))
    return spans


def markdown(hits, terms, weights, seen, says_premise):
    """What the search found, as notes: the lines that hold most of the question's words."""
    lines = {}
    for _, name, state, texts in hits[:NOTES]:
        for text in texts:
            score = sum(weights[term] for term in matches(terms, text))
            lines.setdefault(text, (score, name, state))
    best = sorted(lines.items(), key=lambda pair: -pair[1][0])[:NOTES]
    notes = ["Lines that hold the question's words:"] if best else ["Nothing was found on the question."]
    notes += [f"- {text} (trajectory {name}, state {state})" for text, (_, name, state) in best]
    missing = [term for term in terms if term not in seen and terms[term] > 1]
    if says_premise and missing:
        notes.append(f"Not found in the trajectories that were opened: {', '.join(missing)}.")
    return "\n".join(notes)


def main():
    """One search."""
    session = Session(sys.argv[1] if len(sys.argv) > 1 else "xhigh")
    question = json.loads(session.read("question.json"))["question"]
    instruction = session.read("INSTRUCTION.md")
    terms = question_terms(question)
    hits, weights = search(session, terms, instruction) if terms else ([], {})
    most = re.search(r"at most (\d+) states a span", instruction)
    spans = choose_spans(hits, session.returned, int(most[1]) if most else 4)
    for name, first, last in spans[: session.checked]:
        if Path(HELPER).is_file():
            session.helper(name, "--span", f"{first}:{last}")
    seen = set().union(*(matches(terms, "\n".join(texts)) for _, _, _, texts in hits))
    output = {
        "memory_markdown": markdown(hits, terms, weights, seen, "premise" in instruction.lower()),
        "trajectory_spans": [
            {"trajectory_id": name, "start_state_index": first, "end_state_index": last}
            for name, first, last in spans
        ],
    }
    Path(OUTPUT).write_text(json.dumps(output, ensure_ascii=False), encoding="utf-8")
    session.did(f"cat > {OUTPUT}", "")
    item = {"id": f"item_{session.events}", "type": "agent_message", "text": f"{len(spans)} spans written."}
    emit({"type": "item.completed", "item": item})
    emit({"type": "turn.completed", "usage": {"input_tokens": 0, "output_tokens": 0}})


if __name__ == "__main__":
    main()
