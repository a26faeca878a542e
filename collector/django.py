"""Applications that are Django projects on SQLite."""

import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class DjangoSite:
    """A Django project with a command that seeds its database.

    Its settings read the environment variable COLLECTOR_STATE, the folder for database and media.

    Attributes:
        folder: of manage.py.
        seed: name of the management command.
        locale: whose translations are compiled.
        search_index: whether there is an index to be built (django-haystack).
        media: patterns below site-packages of files that belong into the media folder.
    """

    folder: Path
    seed: str
    locale: str
    search_index: bool = False
    media: Sequence[str] = ()

    def prepare(self, python: Path, state: Path) -> None:
        """See `Server`."""

        def run(*words: str) -> None:
            environment = {**os.environ, "COLLECTOR_STATE": str(state)}
            subprocess.run([python, *words], cwd=self.folder, env=environment, check=True)

        catalogue = f"locale/{self.locale}/LC_MESSAGES/django"
        compiled = f"{catalogue}.mo"
        run("-m", "babel.messages.frontend", "-q", "compile", "-i", f"{catalogue}.po", "-o", compiled)
        run("-W", "ignore", "manage.py", "migrate", "-v0")
        run("-W", "ignore", "manage.py", self.seed)
        for pattern in self.media:
            for file in python.parents[1].glob(f"lib/python3*/site-packages/{pattern}"):
                (state / "media").mkdir(exist_ok=True)
                shutil.copy(file, state / "media")
        if self.search_index:
            run("-W", "ignore", "manage.py", "update_index", "-v0")

    def command(self, python: Path, port: int) -> tuple[list[str], Path]:
        """See `Server`."""
        options = ["--noreload", "--insecure", f"127.0.0.1:{port}"]
        return [str(python), "-W", "ignore", "manage.py", "runserver", *options], self.folder


def sign_in(page, url: str, user: str, password: str) -> None:
    """Fill Django's own sign-in form, on Playwright's `page`."""
    page.goto(url)
    page.fill("input[name=username]", user)
    page.fill("input[name=password]", password)
    page.locator("form:has(input[name=password]) [type=submit]").first.click()
