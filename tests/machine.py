"""What this machine has: browsers for the page."""

from shutil import which


def find_chromium() -> str | None:
    """The Chromium on this machine, if any; the one without windows first: it takes half the time."""
    names = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
    return next(filter(None, map(which, names)), None)


def find_firefox() -> str | None:
    """The Firefox on this machine, if any."""
    return next(filter(None, map(which, ("firefox-esr", "firefox"))), None)
