"""Valid and invalid values of `grounding`, and their results."""

from ipaddress import ip_network
from pathlib import Path

import pytest

from memory.grounding.web_sources import TRACKER_PLACES, Tracker
from memory.text.similarity import JACCARD_THRESHOLD, LOWEST_THRESHOLD, VECTOR_THRESHOLD
from parley.config import SettingsError
from parley.config.memory import MEANING, PLACES, WORDS, GroundingSection
from parley.wiring.memory_writing import grounding_sources
from safety.http.addresses import AllowedHost
from tests.parley.config.kit import load_text

EVERYTHING = """
grounding:
  hosts: [docs.example.org, "*.example.com", "wiki.example.org:8443"]
  repositories: [/srv/app]
  trackers:
    hub: https://api.example.org/repos/{owner}/{repo}/issues/{number}
    own: http://tracker.internal/issues/{number}
  tracker_tokens: {hub: t0ken}
  networks: [10.1.0.0/16]
  dedup_method: vector
"""


def test_without_configuration_nothing_is_requested() -> None:
    grounding = GroundingSection()
    sources = grounding_sources(grounding)
    assert (sources.hosts, sources.repositories, sources.trackers) == ((), (), ())
    assert (grounding.word_threshold, grounding.meaning_threshold) == (0.92, None)


def test_every_configured_source_is_converted(tmp_path: Path) -> None:
    settings = load_text(tmp_path, EVERYTHING)
    sources = grounding_sources(settings.grounding)
    assert sources.hosts == (
        AllowedHost("docs.example.org"),
        AllowedHost("example.com", below=True),
        AllowedHost("wiki.example.org", port=8443),
    )
    assert sources.repositories == (Path("/srv/app"),)
    assert sources.trackers == (
        Tracker("https://api.example.org/repos/{owner}/{repo}/issues/{number}", "t0ken"),
        Tracker("http://tracker.internal/issues/{number}"),
    )
    assert sources.networks == {ip_network("10.1.0.0/16")}
    assert settings.grounding.word_threshold == 0.92
    assert settings.grounding.meaning_threshold == 0.95
    assert "t0ken" not in repr(settings)


@pytest.mark.parametrize(
    ("line", "path"),
    [
        ("hosts: ['https://docs.example.org']", "grounding.hosts[0]"),
        ("hosts: ['*']", "grounding.hosts[0]"),
        ("hosts: ['127.1']", "grounding.hosts[0]"),
        ("repositories: ['']", "grounding.repositories[0]"),
        ("trackers: {a: 'https://x.example/issues'}", "grounding.trackers.a"),
        ("trackers: {a: 'https://{number}.example/'}", "grounding.trackers.a"),
        ("tracker_tokens: {a: t}", "grounding"),
        ("networks: ['10.0.0.1/8']", "grounding.networks[0]"),
        ("dedup_threshold: 0.5", "grounding.dedup_threshold"),
        ("dedup_method: guess", "grounding.dedup_method"),
    ],
)
def test_an_invalid_value_is_refused_with_its_path(tmp_path: Path, line: str, path: str) -> None:
    with pytest.raises(SettingsError) as refused:
        load_text(tmp_path, f"grounding:\n  {line}\n")
    assert refused.value.problems[0].path == path


def test_a_configured_threshold_applies_to_the_chosen_method() -> None:
    words = GroundingSection(dedup_threshold=0.9)
    assert (words.word_threshold, words.meaning_threshold) == (0.9, None)
    meaning = GroundingSection(dedup_method="vector", dedup_threshold=0.9)
    assert (meaning.word_threshold, meaning.meaning_threshold) == (0.92, 0.9)


def test_a_token_is_never_sent_over_http(tmp_path: Path) -> None:
    text = "trackers: {a: 'http://x.example/{number}'}\n  tracker_tokens: {a: t}"
    with pytest.raises(SettingsError, match="https"):
        load_text(tmp_path, f"grounding:\n  {text}\n")


def test_the_settings_and_the_memory_package_have_the_same_defaults() -> None:
    assert (WORDS, MEANING) == (JACCARD_THRESHOLD, VECTOR_THRESHOLD)
    assert GroundingSection.model_fields["dedup_threshold"].metadata[0].ge == LOWEST_THRESHOLD
    assert PLACES == TRACKER_PLACES
