"""The release is fetched, verified and gone on with; what is there is never asked for."""

import errno
import hashlib
import json
import os

import pytest
from hub_server import REPO, REVISION, serving
from release_data import BASE, PATCH, WEB, archive, checksums, make_release

from lmev2.ingest.dataset import validate_dataset
from lmev2.release import download as module
from lmev2.release.download import download
from lmev2.release.manifest import CORE, Expected, ReleaseError, known_files, read_checksums

NOWHERE = "http://127.0.0.1:9"


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    return make_release(tmp_path_factory.mktemp("release") / "data")


@pytest.fixture
def hub(release, monkeypatch):
    monkeypatch.setattr("huggingface_hub.file_download.time.sleep", lambda seconds: None)
    monkeypatch.setattr("huggingface_hub.constants.DOWNLOAD_CHUNK_SIZE", 100)
    with serving(dict(release)) as server:
        yield server


@pytest.fixture
def get(tmp_path, hub):
    """Download to tmp_path / "data" and return the lines reported."""

    def run(parts=("text",), endpoint=None):
        lines = []
        where = endpoint or hub.endpoint
        download(
            tmp_path / "data", repo=REPO, revision=REVISION, parts=parts, endpoint=where, report=lines.append
        )
        return lines

    return run


def files(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.name.startswith(".")
    }


def test_text_part(get, release, tmp_path):
    lines = get()
    text = {name: data for name, data in release.items() if not name.startswith("trajectory_screenshots")}
    assert files(tmp_path / "data") == text
    assert not (tmp_path / "data" / ".download").exists()
    assert lines[0] == f"text: {len(text) - 1} files verified, {len(text) - 1} of them fetched"
    assert "text only" in lines[1]


def test_both_parts_make_a_sound_dataset(get, tmp_path):
    lines = get(["text", "screenshots"])
    counts, defects = validate_dataset(tmp_path / "data", ["small", "medium"])
    assert not defects and counts.screenshots == counts.states == 16
    assert "web_screenshots.tar.gz: 9 screenshots unpacked" in lines


def test_nothing_is_asked_for_twice(get, hub):
    get(["text", "screenshots"])
    hub.requests.clear()
    lines = get(["text", "screenshots"])
    assert {method for method, _, _ in hub.requests} == {"HEAD"}  # sizes and digests of archives
    assert any("0 of them fetched" in line for line in lines)
    assert "web screenshots: unpacked already" in lines


def test_files_in_place_need_no_network(get, hub, release, tmp_path):
    for name, data in release.items():
        (tmp_path / "data" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "data" / name).write_bytes(data)
    lines = get(["text", "screenshots"], NOWHERE)
    assert not hub.requests
    assert any(
        line.startswith("enterprise_screenshots_patch.tar.gz: taken as not published") for line in lines
    )
    assert "web_screenshots.tar.gz: nothing tells its sha256, so it is taken as it is" in lines
    assert (tmp_path / "data/screenshots/t1/0.png").exists()


def test_a_file_that_cannot_be_fetched_is_named(get, tmp_path):
    with pytest.raises(ReleaseError, match=r"checksums\.sha256: not there.*into the dataset folder by hand"):
        get(endpoint=NOWHERE)


def test_offline_mode_of_the_client(get, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(ReleaseError, match=r"checksums\.sha256: not there"):
        get()


@pytest.mark.parametrize("spoil", [lambda data: data[:-1], lambda data: b"#" + data[1:]])
@pytest.mark.parametrize("name", ["trajectories.jsonl", "question_screenshots/q4.png"])
def test_a_spoiled_file_in_place_is_refused_and_kept(get, release, tmp_path, spoil, name):
    get()
    path = tmp_path / "data" / name
    path.write_bytes(spoil(release[name]))
    with pytest.raises(
        ReleaseError, match=rf"{name}: (altered or )?cut short.*remove the file and run again"
    ):
        get()
    assert path.read_bytes() == spoil(release[name])


@pytest.mark.parametrize("spoil", [lambda data: data[:-1], lambda data: b"#" + data[1:]])
def test_a_spoiled_file_of_the_hub_is_refused_and_not_kept(get, hub, release, tmp_path, spoil):
    hub.files["trajectories.jsonl"] = spoil(release["trajectories.jsonl"])
    with pytest.raises(ReleaseError, match=r"trajectories\.jsonl.*it was not kept"):
        get()
    assert not list((tmp_path / "data").rglob("*trajectories.jsonl*"))
    hub.files["trajectories.jsonl"] = release["trajectories.jsonl"]
    get()


def test_the_known_size_is_held_against_the_hub(get, release, monkeypatch):
    sha256 = hashlib.sha256(release["questions.jsonl"]).hexdigest()
    known = {"questions.jsonl": Expected(sha256, 5)}
    monkeypatch.setattr(module, "known_files", lambda repo, revision: known)
    with pytest.raises(ReleaseError, match=r"questions\.jsonl: .* bytes of it instead of 5"):
        get()


def test_a_fetch_that_broke_goes_on_where_it_ended(get, hub, release, tmp_path):
    hub.cut["trajectories.jsonl"] = 700
    hub.breaks["trajectories.jsonl"] = 1  # then the client itself asks again
    whole = release["trajectories.jsonl"]
    part = tmp_path / "data" / ".download" / "trajectories.jsonl.part"
    part.parent.mkdir(parents=True)
    part.write_bytes(whole[:1000])
    get()
    assert hub.asked("trajectories.jsonl") == ["bytes=1000-", "bytes=1700-"]
    assert (tmp_path / "data" / "trajectories.jsonl").read_bytes() == release["trajectories.jsonl"]


def test_what_arrived_before_the_hub_went_away_is_kept(get, hub, release, tmp_path):
    whole = release["trajectories.jsonl"]
    size = len(whole)
    hub.cut["trajectories.jsonl"] = 0
    part = tmp_path / "data" / ".download" / "trajectories.jsonl.part"
    part.parent.mkdir(parents=True)
    part.write_bytes(whole[:1234])
    with pytest.raises(
        ReleaseError, match=rf"trajectories\.jsonl: .* after 1,234 of {size:,} bytes.*run again"
    ):
        get()
    assert part.read_bytes() == whole[:1234]
    hub.cut.clear()
    hub.requests.clear()
    get()
    assert hub.asked("trajectories.jsonl") == ["bytes=1234-"]


def test_a_hub_without_ranges_begins_anew(get, hub, release, tmp_path):
    hub.ignores_ranges = True
    part = tmp_path / "data" / ".download" / "trajectories.jsonl.part"
    part.parent.mkdir(parents=True)
    part.write_bytes(b"?" * 999)
    get()
    assert (tmp_path / "data" / "trajectories.jsonl").read_bytes() == release["trajectories.jsonl"]


def test_a_file_that_the_hub_lacks_is_named(get, hub):
    del hub.files["questions.jsonl"]
    with pytest.raises(ReleaseError, match=rf"questions\.jsonl: not in {REPO} at revision {REVISION}"):
        get()


def test_absent_archives_mean_text_only(get, hub, tmp_path):
    del hub.files[WEB], hub.files[BASE]
    lines = get(["text", "screenshots"])
    assert "web screenshots: no archive in this release, so the domain is text only" in lines
    assert not (tmp_path / "data" / "screenshots").exists()


def test_the_patch_overlays_its_base_file_by_file(get, hub, release, tmp_path):
    get(["screenshots"])
    hub.files[PATCH] = archive({"patch/t4/0.png": b"new", "patch/t9/0.png": b"more"})
    get(["screenshots"])
    folder = tmp_path / "data" / "screenshots"
    assert (folder / "t4/0.png").read_bytes() == b"new"
    assert (folder / "t9/0.png").read_bytes() == b"more"
    assert (folder / "t4/1.png").exists()  # the patch lacks it
    note = json.loads((folder / ".enterprise.unpacked.json").read_text())
    assert list(note["archives"]) == [
        "enterprise_screenshots_base.tar.gz",
        "enterprise_screenshots_patch.tar.gz",
    ]


def test_a_patch_in_place_counts_for_a_release_that_is_known_whole(get, release, tmp_path, monkeypatch):
    known = {name: Expected(hashlib.sha256(release[name]).hexdigest()) for name in (BASE, WEB)}
    monkeypatch.setattr(module, "known_files", lambda *_: known)
    patch = tmp_path / "data" / PATCH
    patch.parent.mkdir(parents=True)
    patch.write_bytes(archive({"patch/t4/0.png": b"new"}))
    lines = get(["screenshots"])
    assert (tmp_path / "data" / "screenshots" / "t4/0.png").read_bytes() == b"new"
    assert "enterprise_screenshots_patch.tar.gz: nothing tells its sha256, so it is taken as it is" in lines


def test_the_folder_of_another_dataset_is_left_as_it_is(get, hub, release, tmp_path, monkeypatch):
    known = {name: Expected(None, len(release[name])) for name in CORE}
    monkeypatch.setattr(module, "known_files", lambda *_: known)
    other = tmp_path / "data" / CORE[0]
    other.parent.mkdir()
    other.write_bytes(b"{}")
    with pytest.raises(ReleaseError, match=r"another dataset's folder, let dataset.path name one"):
        get()
    assert files(tmp_path / "data") == {CORE[0]: b"{}"} and not hub.requests


def test_an_unpacked_archive_need_not_be_kept(get, hub, tmp_path):
    get(["screenshots"])
    (tmp_path / "data" / WEB).unlink()
    hub.requests.clear()
    assert "web screenshots: unpacked already" in get(["screenshots"])
    assert not hub.asked(WEB)


@pytest.mark.parametrize("note", [b"", b"{", b"[]", b"null", b'{"x": 1}', b"\xff"])
def test_a_damaged_note_is_none(get, note, tmp_path):
    get(["text", "screenshots"])
    (tmp_path / "data" / "screenshots" / ".web.unpacked.json").write_bytes(note)
    assert "web_screenshots.tar.gz: 9 screenshots unpacked" in get(["text", "screenshots"])
    assert "web screenshots: unpacked already" in get(["text", "screenshots"])


@pytest.mark.parametrize(
    ("in_the_way", "is_folder"),
    [
        ("questions.jsonl", True),
        ("haystacks", False),
        ("screenshots", False),
        ("screenshots/.web.unpacked.json", True),
        ("screenshots/t1", False),
        ("screenshots/t1/0.png", True),
        ("", False),
    ],
)
def test_something_else_in_the_place_of_a_file_is_named(get, in_the_way, is_folder, tmp_path):
    path = tmp_path / "data" / in_the_way
    path.mkdir(parents=True) if is_folder else (path.parent.mkdir(exist_ok=True, parents=True), path.touch())
    with pytest.raises(ReleaseError, match=f"{path.name}.*see to it"):
        get(["text", "screenshots"])


def test_a_full_disk_is_told_as_such(get, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("lmev2.release.archives.shutil.copyfileobj", full)
    with pytest.raises(ReleaseError, match="No space left on device"):
        get(["text", "screenshots"])
    monkeypatch.undo()


def test_two_downloads_at_once_do_not_meet(get, tmp_path):
    folder = tmp_path / "data"
    with module._alone(folder), pytest.raises(ReleaseError, match="another download is at work"):
        get()
    get()


@pytest.mark.parametrize("repo", ["a/b/c", "x y", "", "-a/b"])
def test_a_repository_name_that_is_none(repo, hub, tmp_path):
    with pytest.raises(ReleaseError, match=r"dataset\.download"):
        download(tmp_path, repo=repo, revision=REVISION, parts=["text"], endpoint=hub.endpoint)


def test_unpacking_that_was_interrupted_begins_anew(get, monkeypatch, tmp_path):
    done = []

    def killed(archive_file, folder):
        done.append(archive_file)
        (folder / "t1").mkdir(parents=True)
        (folder / "t1" / "0.png").write_bytes(b"half")
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("lmev2.release.screenshots.unpack_archive", killed)
        with pytest.raises(KeyboardInterrupt):
            get(["screenshots"])
    get(["screenshots"])
    assert (tmp_path / "data/screenshots/t1/0.png").read_bytes().startswith(b"\x89PNG")


CHECKSUM = "0" * 64


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["not a checksum"], "line 1: not `<sha256>  <path>`"),
        ([f"{CHECKSUM}  ../x"], "line 1: '../x' leads out"),
        ([f"{CHECKSUM}  /etc/x"], "line 1: '/etc/x' leads out"),
        ([f"{CHECKSUM}  x", f"{CHECKSUM}  ./x"], "line 2: 'x' comes twice"),
        ([f"{CHECKSUM}  x"], "questions.jsonl is not named"),
        (
            [f"{'1' * 64}  questions.jsonl"],
            "line 1: the sha256 of questions.jsonl is not that of the release",
        ),
    ],
)
def test_bad_checksums(tmp_path, lines, message):
    path = tmp_path / "checksums.sha256"
    path.write_text("\n".join(lines))
    with pytest.raises(ReleaseError) as caught:
        read_checksums(path, {"questions.jsonl": Expected(CHECKSUM, 1)})
    assert message in str(caught.value)


def test_checksums_in_the_forms_of_sha256sum(tmp_path):
    path = tmp_path / "checksums.sha256"
    contents = dict.fromkeys(CORE, b"") | {"a b.md": b"text"}
    path.write_bytes(checksums(contents).replace(b"  a b", b" *./a b").replace(b"e3b0", b"E3B0") + b"\n")
    found = read_checksums(path, {})
    assert list(found) == list(contents)
    assert found["a b.md"].sha256 == hashlib.sha256(b"text").hexdigest()
    assert found[CORE[0]].sha256 == hashlib.sha256(b"").hexdigest()


def test_the_pinned_release_is_known():
    known = known_files("xiaowu0162/longmemeval-v2", "f152293e235517d504809563c833d7190b8c713b")
    assert set(known) == {*CORE, WEB, BASE}
    assert known["trajectories.jsonl"].size == 1_195_604_539
    assert all(len(entry.sha256) == 64 for entry in known.values())
    assert known_files("xiaowu0162/longmemeval-v2", "main") == {}
