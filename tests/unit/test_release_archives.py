"""Archives are unpacked member by member, and what does not belong into one is refused by name."""

import tarfile

import pytest
from release_data import archive

from lmev2.release.archives import unpack_archive
from lmev2.release.manifest import ReleaseError


def member(name, kind=tarfile.REGTYPE, target=""):
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


@pytest.fixture
def unpack(tmp_path):
    def run(content):
        path = tmp_path / "shots.tar.gz"
        path.write_bytes(content if isinstance(content, bytes) else archive(content))
        return unpack_archive(path, tmp_path / "data" / "screenshots")

    return run


def unpacked(tmp_path):
    folder = tmp_path / "data" / "screenshots"
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


def test_whatever_folders_an_archive_has_around(unpack, tmp_path):
    folder = member("a/b", tarfile.DIRTYPE)
    names = {"./t1/0.png": b"0", "a/b/t1/1.png": b"1", "t 2/x.JPG": b"2", "a/b": folder}
    assert unpack(names) == (3, [])
    assert unpacked(tmp_path) == {"t1/0.png": b"0", "t1/1.png": b"1", "t 2/x.JPG": b"2"}


def test_a_file_that_is_there_is_replaced_and_others_stay(unpack, tmp_path):
    unpack({"t1/0.png": b"old", "t1/1.png": b"stays"})
    unpack({"t1/0.png": b"new"})
    assert unpacked(tmp_path) == {"t1/0.png": b"new", "t1/1.png": b"stays"}


def test_what_is_no_screenshot_is_told(unpack, tmp_path):
    assert unpack({"t1/0.png": b"0", "README.md": b"", "x.png": b"", "t1/notes.txt": b""}) == (
        1,
        ["README.md", "x.png", "t1/notes.txt"],
    )
    assert list(unpacked(tmp_path)) == ["t1/0.png"]


@pytest.mark.parametrize(
    ("bad", "problem"),
    [
        (member("/etc/t1/0.png"), "absolute path"),
        (member("t1/../../0.png"), "leads out"),
        (member("../t1/0.png"), "leads out"),
        (member("t1/link.png", tarfile.SYMTYPE, "/etc/passwd"), "is a link (to '/etc/passwd')"),
        (member("t1/link.png", tarfile.LNKTYPE, "t1/0.png"), "is a link"),
        (member("t1/null.png", tarfile.CHRTYPE), "device"),
        (member("t1/disk.png", tarfile.BLKTYPE), "device"),
        (member("t1/pipe.png", tarfile.FIFOTYPE), "pipe"),
        (member("t1", tarfile.SYMTYPE, "/tmp"), "is a link"),
        (member("t1/odd.png", b"9"), "neither a plain file nor a folder"),
    ],
)
def test_members_that_are_refused(unpack, tmp_path, bad, problem):
    with pytest.raises(ReleaseError) as caught:
        unpack({"t0/0.png": b"0", "bad": bad, "t2/0.png": b"2"})
    assert problem in str(caught.value)
    assert "shots.tar.gz" in str(caught.value) and repr(bad.name) in str(caught.value)
    assert set(unpacked(tmp_path)) <= {"t0/0.png"}


def test_two_members_for_one_screenshot(unpack):
    with pytest.raises(ReleaseError, match=r"'a/t1/0\.png' and 'b/t1/0\.png' both stand for"):
        unpack({"a/t1/0.png": b"0", "b/t1/0.png": b"1"})


def test_an_archive_without_screenshots(unpack):
    with pytest.raises(ReleaseError, match="holds no screenshot"):
        unpack({"README.md": b"text"})


def test_an_archive_that_is_cut_short_anywhere_is_damaged(unpack):
    content = archive({f"t1/{number}.png": bytes(range(256)) * 20 for number in range(3)})
    for size in (*range(0, len(content), 37), len(content) - 1):
        with pytest.raises(ReleaseError, match=r"damaged or cut short|holds no screenshot"):
            unpack(content[:size])


def test_a_changed_byte_is_damage(unpack):
    content = bytearray(archive({"t1/0.png": b"a" * 5000}))
    content[-6] ^= 1  # of gzip's checksum
    with pytest.raises(ReleaseError, match="damaged"):
        unpack(bytes(content))
