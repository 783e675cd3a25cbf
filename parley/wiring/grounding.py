"""From the configuration to what citations are looked up in."""

from ipaddress import ip_network
from pathlib import Path

from memory.grounding.trackers import Tracker
from memory.grounding.verifier import GroundingSources
from parley.config.grounding import Grounding
from safety.http.addresses import HostRule


def grounding_sources(settings: Grounding) -> GroundingSources:
    """The places that are listed; a relative folder counts from the one the program runs in."""
    tokens = settings.tracker_tokens
    return GroundingSources(
        hosts=tuple(HostRule.parse(host) for host in settings.hosts),
        repositories=tuple(Path(folder) for folder in settings.repositories),
        trackers=tuple(
            Tracker(template, tokens[name].get_secret_value() if name in tokens else "")
            for name, template in settings.trackers.items()
        ),
        networks=frozenset(ip_network(network) for network in settings.networks),
    )
