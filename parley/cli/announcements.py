"""The lines that `parley run` prints about its start: for people, or as events of the log where
both would reach one place as different formats."""

import os
import sys
from typing import Final

import structlog
from msgspec import Struct

from gateway.observe.logs import LogFormat
from parley.app import App

LINK: Final = (
    "The console: {link}\n"
    "This link signs one browser in as an owner, once, within {minutes} minutes."
    " `parley console link --operator` prints another one."
)

log = structlog.get_logger(__name__)


class Announcements(Struct, frozen=True):
    """Prints on standard output and standard error. `as_events`: it writes events of the log
    instead. `with_links`: people read it, so that a link may admit them."""

    as_events: bool = False
    with_links: bool = False

    def ready(self, part: str) -> None:
        """Announce a part that works."""
        if self.as_events:
            log.info("ready", part=part)
        else:
            print_line(f"ready {part}")

    def pages(self, app: App) -> None:
        """Announce the pages: on a terminal by links that admit a browser, elsewhere, where others
        may read it, by their addresses."""
        if self.as_events:
            for address in app.page_addresses():
                log.info("page", url=address)
            return
        for shown in app.page_links() if self.with_links else app.page_addresses():
            print_line(f"open {shown}")

    def problem(self, account: str, problem: str) -> None:
        """Announce an account that is not connected."""
        if self.as_events:
            log.error("not_connected", account=account, problem=problem)
        else:
            sys.stderr.write(f"{account} is not connected: {problem}\n")

    async def console(self, app: App) -> None:
        """Announce the console: on a terminal by a link that signs an owner in, elsewhere, where
        others may read it, by its address. Raises `StoreUnavailable`."""
        address = app.console_address
        if not address:
            return
        if self.as_events:
            log.info("console", url=address)
        elif self.with_links:
            minutes = app.settings.console.link_minutes
            print_line(LINK.format(link=await app.console_link(), minutes=minutes))
        else:
            print_line(f"console {address}")


def announcements_of(log_format: LogFormat) -> Announcements:
    """The announcements of a program whose log has this format: events where the log is JSON and
    standard output gets it too, so that every line of a file or of a journal is JSON."""
    is_json = log_format == "json" or (log_format == "auto" and not sys.stderr.isatty())
    as_events = is_json and (log_format == "json" or _is_one_file())
    return Announcements(as_events, with_links=sys.stdout.isatty() and not as_events)


def _is_one_file() -> bool:
    """Return True if standard output and standard error lead to the same place."""
    try:
        out, err = os.fstat(sys.stdout.fileno()), os.fstat(sys.stderr.fileno())
    except (OSError, ValueError):  # not a file, as in a test
        return False
    return (out.st_dev, out.st_ino) == (err.st_dev, err.st_ino)


def print_line(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
