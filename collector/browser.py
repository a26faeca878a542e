"""Makes BrowserGym start the distribution's Chromium instead of one that Playwright downloads.

BrowserGym calls `chromium.launch(args=[...])` itself, for the task's browser and for its chat window, and
takes no further arguments. So the launch method is wrapped at run time: the executable is set and flags are
added. Nothing of the installed packages is changed.

Debian's `chromium-headless-shell` is used rather than `chromium`: with the Playwright release that BrowserGym
pins, the full browser's new headless mode does not keep the viewport size, so that pages are laid out at
another width than the screenshot. The headless shell keeps the size of its window, which is the viewport's.
"""

import os
from pathlib import Path
from typing import Any

import playwright.sync_api

VIEWPORT = {"width": 1024, "height": 640}
_DEFAULT = "/usr/bin/chromium-headless-shell"
_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--disable-default-apps",
    "--disable-extensions",
    "--font-render-hinting=none",
    f"--window-size={VIEWPORT['width']},{VIEWPORT['height']}",
]


def use_system_chromium() -> None:
    """Wrap the launch method; COLLECTOR_CHROMIUM names another executable.

    Raises:
        SystemExit: there is no such executable.
    """
    executable = os.environ.get("COLLECTOR_CHROMIUM", _DEFAULT)
    if not Path(executable).exists():
        raise SystemExit(
            f"there is no {executable}: apt-get install chromium-headless-shell, or set COLLECTOR_CHROMIUM"
        )
    browser = playwright.sync_api.BrowserType
    if getattr(browser.launch, "wrapped", False):
        return
    original = browser.launch

    def launch(self: Any, *, args: Any = None, executable_path: Any = None, **more: Any) -> Any:
        flags = [*(args or []), *(flag for flag in _FLAGS if flag not in (args or []))]
        return original(self, args=flags, executable_path=executable_path or executable, **more)

    launch.wrapped = True
    browser.launch = launch
