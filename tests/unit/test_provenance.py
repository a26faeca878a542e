import json
import shutil

import pytest

from lmev2.provenance import PACKAGE, code_digest, file_sha256, write_meta

SCRIPT = '''"""What it does."""
import json
from helper import add

def run(numbers):
    """Add them."""
    return json.dumps(add(numbers))  # as text
'''
FILES = {
    "script.py": SCRIPT,
    "helper.py": "from tools.sums import total\ndef add(numbers):\n    return total(numbers)\n",
    "tools/__init__.py": "",
    "tools/sums.py": "from . import signs\nfrom .words import WORD\ntotal = sum\n",
    "tools/signs.py": "PLUS = 1\n",
    "tools/words.py": "from tools.far import FAR\nWORD = 'a'\n",
    "tools/far.py": "FAR = 1\n",
    "unrelated.py": "X = 1\n",
}


@pytest.fixture
def digest(tmp_path):
    """The digest of script.py in a fresh folder, some files changed."""
    count = iter(range(100))

    def make(changes=()):
        folder = tmp_path / str(next(count))
        for name, text in {**FILES, **dict(changes)}.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return code_digest(folder / "script.py")

    return make


def test_the_digest_is_the_same_wherever_the_project_lies(digest):
    assert digest() == digest()
    assert len(digest()) == 16


@pytest.mark.parametrize(
    "script",
    [
        SCRIPT.replace("  # as text", ""),
        SCRIPT.replace("import json\n", "import json\n\n# A comment.\n\n"),
        SCRIPT.replace("Add them.", "Sum them up."),
        SCRIPT.replace('    """Add them."""\n', ""),
        SCRIPT.replace('"""What it does."""\n', ""),
        SCRIPT.replace("def run(numbers):", "def run(\n    numbers,\n):"),
    ],
)
def test_comments_docstrings_and_layout_do_not_count(digest, script):
    assert script != SCRIPT
    assert digest({"script.py": script}) == digest()


@pytest.mark.parametrize(
    "change",
    [
        {"script.py": SCRIPT.replace("add(numbers))", "add(numbers) + 1)")},
        {"helper.py": FILES["helper.py"].replace("total(numbers)", "total(numbers) + 1")},
        {"tools/sums.py": FILES["tools/sums.py"].replace("= sum", "= max")},
        {"tools/signs.py": "PLUS = 2\n"},  # from . import signs
        {"tools/words.py": FILES["tools/words.py"].replace("'a'", "'b'")},  # from .words import WORD
        {"tools/far.py": "FAR = 2\n"},  # an absolute import within the package
        {"tools/__init__.py": "X = 1\n"},
    ],
)
def test_an_edit_of_what_is_imported_counts(digest, change):
    assert digest(change) != digest()


def test_an_edit_of_what_is_not_imported_does_not_count(digest):
    assert digest({"unrelated.py": "X = 2\n"}) == digest()
    assert digest({"json.py": "X = 2\n"}) != digest()  # a file beside it that hides the library's


def test_a_module_deep_in_a_package_finds_its_own_package(tmp_path):
    package = tmp_path / "theirs" / "memory"
    package.mkdir(parents=True)
    for folder in (package, package.parent):
        (folder / "__init__.py").touch()
    (package / "mine.py").write_text("import theirs.shared\n")
    (package.parent / "shared.py").write_text("X = 1\n")
    moved = tmp_path / "moved" / "theirs"
    shutil.copytree(package.parent, moved)
    assert code_digest(package / "mine.py") == code_digest(moved / "memory" / "mine.py")
    other = tmp_path / "other" / "theirs"
    shutil.copytree(package.parent, other)
    (other / "shared.py").write_text("X = 2\n")
    assert code_digest(other / "memory" / "mine.py") != code_digest(package / "mine.py")


def test_several_files_count_together(digest, tmp_path):
    digest()
    folder = tmp_path / "0"
    both = code_digest(folder / "script.py", folder / "unrelated.py")
    assert both == code_digest(folder / "unrelated.py", folder / "script.py")
    assert both != code_digest(folder / "script.py")


def test_parts_of_this_package_can_be_left_out(tmp_path):
    plug_in = tmp_path / "mine.py"
    plug_in.write_text("from lmev2.memory.protocol import Item\n")
    whole, part = code_digest(plug_in), code_digest(plug_in, leave_out=("memory",))
    assert whole != part
    assert part == code_digest(plug_in, leave_out=("memory", "nowhere"))
    assert code_digest(plug_in, leave_out=(".",)) == code_digest(plug_in, leave_out=(".", "memory"))


def test_a_plug_in_depends_on_the_modules_of_this_package_that_it_imports(tmp_path):
    plain, importing = tmp_path / "plain.py", tmp_path / "importing.py"
    plain.write_text("X = 1\n")
    importing.write_text("import lmev2.memory.render\n")
    modules = [path for path in PACKAGE.rglob("*.py") if path.stem == "render"]
    assert modules
    left_out = code_digest(importing, leave_out=("memory/render.py",))
    assert code_digest(importing) != left_out
    assert code_digest(plain) == code_digest(plain, leave_out=("memory/render.py",))


def test_the_meta_file_is_the_same_each_time(tmp_path):
    for name in ("a.json", "b.json"):
        write_meta(tmp_path / name, stage="query", params={"x": 1}, counts={"rows": 2}, usage={"calls": 3})
    assert file_sha256(tmp_path / "a.json") == file_sha256(tmp_path / "b.json")
    meta = json.loads((tmp_path / "a.json").read_text())
    assert meta["params"] == {"x": 1}
    assert meta["usage"] == {"calls": 3}
    assert set(meta["versions"]) >= {"python", "lmev2", "numpy", "pyarrow"}
    assert set(meta["git"]) == {"commit", "dirty"}
