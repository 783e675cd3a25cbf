"""`parley page`: a link to the web page of a running program."""

import sys

from gateway.errors import StartError
from parley.cli.configuration import command_settings
from parley.cli.options import Config
from parley.cli.running_program import fetch, request_to
from parley.http.page_links import PATH

NOT_RUNNING = "No Parley answers on {address}."
START = "Start it with `parley run`, with the same configuration; in a container, run this there."
NO_PAGE = "This process serves no page: platforms.web.enabled is off, or its role is worker."


def page(config: Config = None) -> int:
    """Print links to the pages of a running program. Each admits one browser within ten minutes."""
    settings = command_settings(config)
    request = request_to(settings, PATH, method="POST")
    try:
        links = fetch(request).get("links")
    except (OSError, ValueError) as error:
        raise StartError(NOT_RUNNING.format(address=request.host), START) from error
    if not isinstance(links, list):
        raise StartError(f"The program on {request.host} gives no link.", START)
    if not links:
        raise StartError(NO_PAGE)
    sys.stdout.write("".join(f"{link}\n" for link in links))
    return 0
