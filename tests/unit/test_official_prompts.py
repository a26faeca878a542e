"""`lmev2 prompts`: texts out of a checkout in the official layout, into prompt files and a config."""

import ast

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from lmev2.cli import main
from lmev2.memory.protocol import Question
from lmev2.prompts import FOLDER, Prompts, fill, prompt_params, template_names
from lmev2.prompts.constants import CheckoutError, Placeholder, find_constants
from lmev2.prompts.official import MAP, VALUES, extract, placeholders, to_template
from lmev2.reader import Reader

FILES = {
    "evaluation/harness.py": r"""
DOMAIN_SYSTEM_PROMPTS = {
    "web": (
        "You know the shop. If not, say \\boxed{UNKNOWN}. "
        "Else explain in \boxed{} what it costs in $."
    ),
    "enterprise": "You know the desk. Explain in \boxed{}.",
}


def build_messages(system_prompt, question_text, memory_context):
    intro_text = "# Remembered:\n"
    if not memory_context:
        intro_text += "(empty)"
    question_block = f"\n\n# Question:\n{question_text}"
""",
    "evaluation/qa_eval_metrics.py": """
_ABSTENTION_JUDGE_SYSTEM_PROMPT = ("Grade " "strictly. " + "Be fair.")
_GOTCHAS_JUDGE_SYSTEM_PROMPT = "Grade the insight."


def _build_abstention_judge_messages(question_text, reference_answer, model_full_response, **more):
    user_prompt = (
        "Q:\\n" f"{question_text}\\n" f"{reference_answer} {model_full_response} {model_final_answer}\\n"
        '{"label": 0 or 1}'
    )


def _build_gotchas_judge_messages(question_text, model_final_answer):
    user_prompt = f"{question_text}: {model_final_answer}"
""",
    "memory_modules/support.py": '''
NOTE_GENERATION_SYSTEM_PROMPT = """Write notes: {"a": "- ...\\\\n"} for $5.
"""
NOTE_GENERATION_REPAIR_SYSTEM_PROMPT = """
  Again.
""".strip()
''',
    "memory_modules/agentrunbook_r.py": '''
import textwrap
from other import SOMETHING

EVENT_GENERATION_SYSTEM_PROMPT = textwrap.dedent("""
    Write events.
      Indented.
""")
EVENT_GENERATION_REPAIR_SYSTEM_PROMPT = "Again."
QUERY_GENERATION_SYSTEM_PROMPT: str = "Write queries."
QUERY_REPAIR_SYSTEM_PROMPT = f"{SOMETHING} again."
DEFAULT_EMBEDDING_QUERY_INSTRUCTION = "Find what helps."
UNUSED = "A text that is long enough to be a prompt, for which there is no place among ours."


class Runbook:
    def messages(self, goal):
        header_lines = [
            "Extract what is of use from this run of a user interface, which is a long sentence.",
            f"Goal: {goal}",
        ]
''',
    "memory_modules/codex.py": '''
MOST = 20
DEFAULT_PROMPT = "Read the files."
QUESTION_INSTRUCTIONS = f"""# Instructions
At most `{MOST}` states.
{{"spans": []}}
"""
''',
    "memory_modules/assets/agentrunbook_c/INSTRUCTION.md": "# Work\n\nIt costs $5.\n",
}


@pytest.fixture
def checkout(tmp_path):
    for name, text in FILES.items():
        (tmp_path / "checkout" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "checkout" / name).write_text(text)
    return tmp_path / "checkout"


@pytest.fixture
def written(checkout, tmp_path, capsys):
    status = main(["prompts", str(checkout), "--out", str(tmp_path / "out")])
    return status, capsys.readouterr().out, tmp_path / "out"


def test_the_prompts_of_the_files_are_the_codes_texts(written):
    _, _, out = written
    config = yaml.safe_load((out / "config.yaml").read_text())
    prompts = Prompts(prompt_params(tuple(config["prompts"]), config["prompts"]))
    values = {"question": "Which $x?", "reference": "{r}", "response": "R", "answer": "A"}
    expected = {
        "reader.question": "\n\n# Question:\nWhich $x?",
        "judge_abstention.system": "Grade strictly. Be fair.",
        "judge_abstention.user": 'Q:\nWhich $x?\n{r} R A\n{"label": 0 or 1}',
        "judge_gotchas.user": "Which $x?: A",
        "notes.system": 'Write notes: {"a": "- ...\\n"} for $5.\n',
        "notes.repair": "Again.",
        "events.system": "\nWrite events.\n  Indented.\n",
        "controller.system": "Write queries.",
        "agent_plain": '# Instructions\nAt most `20` states.\n{"spans": []}\n',
        "agent_workflow": "# Work\n\nIt costs $5.\n",
    }
    assert {name: prompts.fill(name, **values) for name in expected} == expected
    assert prompts.fill("reader.intro", empty="(empty)") == "# Remembered:\n(empty)"
    assert prompts.fill("reader.intro", empty="") == "# Remembered:\n"


def test_the_backspace_is_mended_and_kept_for_those_who_want_it(written):
    _, text, out = written
    mended = yaml.safe_load((out / "config.yaml").read_text())["domains"]
    kept = yaml.safe_load((out / "paper-bytes.yaml").read_text())["domains"]
    assert mended["enterprise"] == "You know the desk. Explain in \\boxed{}."
    assert kept["enterprise"] == "You know the desk. Explain in \x08oxed{}."
    assert kept["web"] == (
        "You know the shop. If not, say \\boxed{UNKNOWN}. Else explain in \x08oxed{} what it costs in $."
    )
    template = (out / "reader.system.md").read_text()
    assert fill(template, environment=kept["web"]) == kept["web"]
    assert "paper-bytes.yaml after it for the backspace characters." in text


@pytest.mark.parametrize(("items", "intro"), [([], "# Remembered:\n(empty)"), (["seen"], "# Remembered:\n")])
def test_the_readers_request_has_the_official_form(written, items, intro):
    _, _, out = written
    prompts = yaml.safe_load((out / "config.yaml").read_text())["prompts"]
    domains = yaml.safe_load((out / "paper-bytes.yaml").read_text())["domains"]
    reader = Reader(None, Prompts(prompt_params(("reader.",), prompts)), domains, 1, None)
    place = {"domain": "enterprise", "environment": "desk"}
    rows = [{"kind": "text", "text": text} for text in items]
    assert reader.messages(Question("h", "Which?", None), place, rows) == [
        {"role": "system", "content": "You know the desk. Explain in \x08oxed{}."},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": text} for text in [intro, *items, "\n\n# Question:\nWhich?"]
            ],
        },
    ]


def test_what_cannot_be_had_is_listed_with_the_reason(written):
    status, text, out = written
    assert status == 1
    assert not (out / "controller.repair.md").exists()
    assert (
        "controller.repair: memory_modules/agentrunbook_r.py:QUERY_REPAIR_SYSTEM_PROMPT: it uses {SOMETHING}"
        ", for which there is no value (there is schema; --name THEIRS=OURS)"
    ) in text
    assert "  notes.user: nothing in the map stands for it" in text
    assert "agentrunbook_r.py:UNUSED (line 13): 82 characters" in text
    assert (
        "agentrunbook_r.py:Runbook.messages.header_lines (line 18): it is put together by code (List" in text
    )


def test_a_map_and_names_of_ones_own(checkout, tmp_path):
    (checkout / "mine.py").write_text(
        'PROMPT = "Ask {schema} and {{not}} this."\nprint(PROMPT.format(schema=1))\n'
    )
    arguments = ["--map", "controller.repair=mine.py:PROMPT", "--map", "reader.question=mine.py:PROMPT"]
    assert main(["prompts", str(checkout), "--out", str(tmp_path / "out"), *arguments]) == 1
    assert (tmp_path / "out/controller.repair.md").read_text() == "Ask ${schema} and {not} this.\n"
    assert not (tmp_path / "out/reader.question.md").exists()
    arguments += [
        "--name",
        "schema=question",
        "--map",
        "controller.repair=memory_modules/codex.py:DEFAULT_PROMPT",
    ]
    assert main(["prompts", str(checkout), "--out", str(tmp_path / "out"), *arguments]) == 0
    assert (tmp_path / "out/reader.question.md").read_text() == "Ask ${question} and {not} this.\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["/no/such/checkout"], "/no/such/checkout is no folder"),
        ([".", "--map", "x"], "--map x: should be like A=B"),
        ([".", "--map", "reader.sistem=a.py:B"], "--map reader.sistem: there is no such prompt"),
        ([".", "--name", "=b"], "--name =b: should be like A=B"),
    ],
)
def test_wrong_usage(arguments, message, capsys):
    assert main(["prompts", *arguments]) == 2
    assert message in capsys.readouterr().err


def found(tmp_path, code):
    (tmp_path / "code.py").write_text(code)
    return find_constants(tmp_path)


LONG = "x" * 60


@pytest.mark.parametrize(
    ("code", "name", "problem"),
    [
        (f"P = '{LONG}'\nP = '{LONG}'", "P", "it is assigned more than once"),
        (f"P = f'{LONG} {{a.b}}'", "P", "its f-string has more than a plain name in braces (line 1): {a.b}"),
        (f"P = f'{LONG} {{a!r}}'", "P", "its f-string has more than a plain name in braces (line 1): {a!r}"),
        (f"P = '{LONG}'.join(a)", "P", "it is put together by code (Call, line 1)"),
        (f"P = '{LONG} {{a.b}}'\nP.format(a=1)", "P", "its placeholder {a.b} is more than a plain name"),
        (f"P = '{LONG} {{'\nP.format(a=1)", "P", "no text for .format: Single '{' encountered"),
        (f"P = f'{LONG} {{a}}'.strip()", "P", ".strip() of a text with placeholders (line 1)"),
        (f"P = f'{LONG} {{a}}'\nP.format()", "P", "an f-string that .format is called on"),
        (f"def f():\n  if a:\n    P = g('{LONG}')", "f.P", "it is put together by code (Call, line 3)"),
    ],
)
def test_texts_that_cannot_be_had(tmp_path, code, name, problem):
    constant = found(tmp_path, code)[f"code.py:{name}"]
    assert constant.problem.startswith(problem)
    assert not constant.parts


def test_a_parameter_is_not_the_constant_of_its_name(tmp_path):
    constants = found(tmp_path, "A = 'one'\ndef f(A):\n  P = f'{A}'\ndef g():\n  P = f'{A}'\n")
    assert constants["code.py:f.P"].parts == (Placeholder("A"),)
    assert constants["code.py:g.P"].parts == ("one",)


@pytest.mark.parametrize(
    "code",
    [
        b"def f(:\n",
        b"X = 'a\0'\n",
        b"X = '\xff'\n",
        b"X = " + b"(" * 500 + b")" * 500,
        b"X = " + b"-" * 90_000,
    ],
)
def test_whatever_does_not_parse_is_named(tmp_path, code):
    (tmp_path / "code.py").write_bytes(code)
    with pytest.raises(CheckoutError, match=r"code\.py: .*; mend the file"):
        find_constants(tmp_path)


def test_files_in_the_encodings_that_python_reads(tmp_path):
    (tmp_path / "marked.py").write_bytes(b"\xef\xbb\xbfX = 'a'\n")
    (tmp_path / "latin.py").write_bytes(b"# -*- coding: latin-1 -*-\nX = '\xe9'\n")
    (tmp_path / "folder.py").mkdir()
    (tmp_path / "gone.py").symlink_to("nowhere")
    texts = {place: constant.parts for place, constant in find_constants(tmp_path).items()}
    assert texts == {"latin.py:X": ("é",), "marked.py:X": ("a",)}


def test_a_file_that_does_not_parse_is_named(tmp_path):
    (tmp_path / "code.py").write_text("def f(:\n")
    with pytest.raises(CheckoutError, match=r"code.py: invalid syntax"):
        find_constants(tmp_path)


def test_nothing_is_run(tmp_path):
    found(tmp_path, f"open({str(tmp_path / 'ran')!r}, 'w')\nP = '{LONG}'\n")
    assert not (tmp_path / "ran").exists()


TEXT = st.text(st.sampled_from("ab {}$\n\\'\"%é\b"), max_size=12)
NAME = st.sampled_from(["question_text", "reference_answer", "answer"])
PIECES = st.lists(st.one_of(TEXT, NAME.map(Placeholder)), max_size=6)
VALUE = st.text(st.sampled_from("xy{}$\n\\"), max_size=6)
OURS = {"question_text": "question", "reference_answer": "reference", "answer": "answer"}


@given(PIECES, st.fixed_dictionaries(dict.fromkeys(OURS, VALUE)), st.booleans())
@settings(deadline=None, max_examples=150)
def test_a_template_renders_as_their_code_does(tmp_path_factory, pieces, values, formats):
    """Both for f-strings and for texts that `.format` is called on."""
    if formats:
        text = "".join(
            piece.replace("{", "{{").replace("}", "}}") if isinstance(piece, str) else f"{{{piece.name}}}"
            for piece in pieces
        )
        code, theirs = f"P = {text!r}\nprint(P.format(**x))\n", text.format(**values)
    else:
        nodes = [
            ast.Constant(piece)
            if isinstance(piece, str)
            else ast.FormattedValue(ast.Name(piece.name, ast.Load()), -1, None)
            for piece in pieces
        ]
        value = ast.fix_missing_locations(ast.Expression(ast.JoinedStr(nodes)))
        theirs = eval(compile(value, "f", "eval"), dict(values))
        plus = " + ".join(
            repr(piece) if isinstance(piece, str) else f"f'{{{piece.name}}}'" for piece in pieces
        )
        code = f"P = {plus or repr('')}\n"
    folder = tmp_path_factory.mktemp("code")
    template = to_template(found(folder, code)["code.py:P"], OURS)
    ours = {OURS[name]: value for name, value in values.items()}
    assert fill(f"{template}\n", **ours) == theirs


@pytest.mark.parametrize("character", ["\\r", "\\ud800"])
def test_a_text_that_no_file_can_hold(checkout, character):
    (checkout / "mine.py").write_text(f"PROMPT = 'a{character}b'\n")
    result = extract(checkout, {"agent_prompt": "mine.py:PROMPT"})
    assert result.missing["agent_prompt"] == "mine.py:PROMPT: it has a character that a text file cannot hold"


def test_the_map_names_prompts_of_ours_and_what_they_may_use():
    names = set(template_names())
    assert MAP.keys() <= names
    assert VALUES.keys() <= names
    for name in names:
        used = placeholders((FOLDER / f"{name}.md").read_text())
        assert used <= set(VALUES.get(name, ())), name


def test_every_mapped_prompt_of_a_whole_checkout_is_taken(checkout):
    (checkout / "memory_modules/agentrunbook_r.py").write_text(
        FILES["memory_modules/agentrunbook_r.py"].replace("{SOMETHING}", "Once")
    )
    result = extract(checkout)
    assert not result.missing
    assert result.templates.keys() == MAP.keys() | {"reader.system"}
    assert result.instruction == "Instruct: Find what helps.\nQuery:"
