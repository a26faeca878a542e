"""One file of a dataset repository on a Hugging Face hub, fetched so that an interrupted fetch goes on."""

import contextlib
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit

import httpx2
from huggingface_hub import constants, get_hf_file_metadata, hf_hub_url
from huggingface_hub.errors import (
    HFValidationError,
    OfflineModeIsEnabled,
    RemoteEntryNotFoundError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)
from huggingface_hub.file_download import HfFileMetadata, http_get
from huggingface_hub.utils import build_hf_headers

from lmev2.progress import Progress
from lmev2.release.manifest import LONG, Expected, ReleaseError, verify

_SHA256_DIGITS = 64
_OTHER = "it was not kept; run again, and if that does not help check dataset.download"
_BY_HAND = "put the file into the dataset folder by hand"


class Hub:
    """A dataset repository at one revision.

    Args:
        repo: `owner/name`.
        revision: commit, tag or branch.
        endpoint: address of the hub; None for huggingface.co, or what the environment's HF_ENDPOINT names.
    """

    def __init__(self, repo: str, revision: str, endpoint: str | None = None) -> None:
        self.repo, self.revision = repo, revision
        self.endpoint = (endpoint or constants.ENDPOINT).rstrip("/")

    def expected(self, path: str) -> Expected | None:
        """What the hub says of a file: its size, and its sha256 where it is stored as a large file.

        None where the repository has no such file.

        Raises:
            ReleaseError: the hub cannot be reached, or has no such repository or revision.
        """
        with self._explained(path):
            try:
                metadata = self._metadata(path)
            except RemoteEntryNotFoundError:
                return None
        etag = metadata.etag or ""
        return Expected(etag if len(etag) == _SHA256_DIGITS else None, metadata.size)

    def fetch(self, path: str, target: Path, partial_file: Path, expected: Expected) -> None:
        """Fetch a file to `target`, and verify it before it gets that name.

        What has arrived lies in `partial_file` (the hub's own client keeps nothing of a broken download, and
        begins anew); the next call goes on from there.

        Raises:
            ReleaseError: the file is not there, is another than expected, or the connection broke.
        """
        with self._explained(path):
            metadata = self._metadata(path)
            size = metadata.size if expected.size is None else expected.size
            if metadata.size not in (None, size):
                raise ReleaseError(
                    f"{path}: {self.endpoint} has {metadata.size:,} bytes of it instead of {size:,}; {_OTHER}"
                )
            self._continue(path, metadata.location, partial_file, size)
        try:
            verify(partial_file, expected, _OTHER)
        except ReleaseError:
            partial_file.unlink()
            raise
        target.parent.mkdir(parents=True, exist_ok=True)
        partial_file.replace(target)
        with contextlib.suppress(OSError):  # others lie there
            partial_file.parent.rmdir()

    def _continue(self, path: str, location: str, partial_file: Path, size: int | None) -> None:
        """Append to `partial_file` what it lacks of `size` bytes."""
        partial_file.parent.mkdir(parents=True, exist_ok=True)
        with partial_file.open("ab") as file:
            if size is not None and file.tell() > size:
                file.truncate(0)
                file.seek(0)
            progress = Progress(f"download {path}", "MB", size // 10**6) if size and size >= LONG else None
            try:
                http_get(
                    location,
                    file,
                    resume_size=file.tell(),
                    headers=self._headers(location),
                    expected_size=size,
                    tqdm_class=partial(_Bar, progress),
                )
            except (httpx2.HTTPError, OSError) as error:
                if size is None or not 0 < file.tell() < size:
                    raise
                raise ReleaseError(
                    f"{path}: fetching ended after {file.tell():,} of {size:,} bytes "
                    f"({type(error).__name__}: {error}); they are kept: run again to go on from there"
                ) from error
            if progress:
                progress.close()

    def _metadata(self, path: str) -> HfFileMetadata:
        url = hf_hub_url(self.repo, path, repo_type="dataset", revision=self.revision, endpoint=self.endpoint)
        return get_hf_file_metadata(url, endpoint=self.endpoint)

    def _headers(self, location: str) -> dict[str, str]:
        """Headers of the request for the content: no compression, and no token for another host."""
        same_host = urlsplit(location).netloc == urlsplit(self.endpoint).netloc
        return {**build_hf_headers(token=None if same_host else False), "Accept-Encoding": "identity"}

    @contextlib.contextmanager
    def _explained(self, path: str) -> Iterator[None]:
        try:
            yield
        except RemoteEntryNotFoundError as error:
            raise ReleaseError(
                f"{path}: not in {self.repo} at revision {self.revision}; check dataset.download"
            ) from error
        except (RepositoryNotFoundError, RevisionNotFoundError) as error:
            raise ReleaseError(
                f"{path}: {self.endpoint} has no dataset {self.repo} at revision {self.revision}; "
                "check dataset.download"
            ) from error
        except OfflineModeIsEnabled as error:
            raise ReleaseError(
                f"{path}: not there, and HF_HUB_OFFLINE forbids to fetch it; {_BY_HAND}"
            ) from error
        except (HFValidationError, httpx2.InvalidURL) as error:
            raise ReleaseError(f"{path}: cannot be asked for ({error}); check dataset.download") from error
        except (httpx2.HTTPError, OSError) as error:
            # Broken connections, statuses of the server, a full disk.
            raise ReleaseError(
                f"{path}: not there, and fetching it from {self.endpoint} failed "
                f"({type(error).__name__}: {error}); run again, or {_BY_HAND}"
            ) from error


class _Bar:
    """Passes what the hub's client reports to a progress line, in place of its own bar."""

    def __init__(self, progress: Progress | None, *, initial: int = 0, **_: Any) -> None:
        self._progress, self._done = progress, initial

    def __enter__(self) -> "_Bar":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    def update(self, n: int) -> None:
        """`n` more bytes have arrived; less than none if the server begins anew."""
        self._done += n
        if self._progress:
            self._progress.at(self._done // 10**6)
