"""No text of a configuration that may be a secret is listed or exported, at whatever key."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

import pytest
from pydantic import BaseModel, HttpUrl, SecretStr

from gateway.platforms import discover
from parley.config.listing import as_yaml, listed
from parley.config.load import Origin, Origins
from parley.config.settings import Settings

CANARIES = ("uSr7canary1x", "pA5canary2yQ", "pTh9canary3z", "qRy4canary4w", "fRg6canary5v")
USER, PASSWORD, PART, VALUE, FRAGMENT = CANARIES
ADDRESS = f"https://{USER}:{PASSWORD}@h.example/{PART}/mcp?key={VALUE}#{FRAGMENT}"
NOW = datetime(2026, 11, 27, tzinfo=UTC)


def filled(kind: type[BaseModel]) -> BaseModel:
    """A section with an address full of canaries at every key that holds texts. It is not
    validated: the listing must be safe for every value."""
    values = {name: value_of(info.annotation) for name, info in kind.model_fields.items()}
    return kind.model_construct(
        set(values), **{name: value for name, value in values.items() if value is not None}
    )


def value_of(annotation: Any) -> Any:
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return value_of(inner[0])
    if origin in (Union, UnionType):
        return next((v for one in inner if one is not NoneType and (v := value_of(one))), None)
    if origin in (tuple, list, frozenset, set):
        one = value_of(inner[0]) if inner else None
        return None if one is None else origin([one])
    if origin in (dict, Mapping) or (isinstance(origin, type) and issubclass(origin, Mapping)):
        one = value_of(inner[1])
        return None if one is None else {"one": one}
    if annotation is str:
        return ADDRESS
    if annotation in (int, float):
        return annotation(1)
    if annotation is HttpUrl:
        return HttpUrl(ADDRESS)
    if annotation is SecretStr:
        return SecretStr(PASSWORD)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return filled(annotation)
    return None


def texts(value: object) -> Iterator[str]:
    if isinstance(value, Mapping):
        for one in value.values():
            yield from texts(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from texts(one)
    else:
        yield str(value)


@pytest.mark.parametrize("kind", [Settings, *(m.settings for m in discover().manifests.values())])
def test_no_key_shows_the_secrets_of_an_address(kind: type[BaseModel]) -> None:
    settings: Any = filled(kind)

    values = list(listed(settings, {}, ()))

    assert kind is not Settings or sum("h.example" in one.text for one in values) > 20
    shown = "\n".join((as_yaml(values, NOW), *(one.text for one in values)))
    shown += "\n".join(text for one in values for text in texts(one.value))
    assert [canary for canary in CANARIES if canary in shown] == []


def test_a_text_with_references_shows_the_references_only() -> None:
    template = f"https://h.example/{PART}/mcp?key=${{KEY}}"
    settings = Settings.model_validate({"model": {"base_url": ADDRESS}})
    origins: Origins = {("model", "base_url"): Origin("file", "parley.yaml:3", template)}

    (one,) = [each for each in listed(settings, origins, ()) if each.key == "model.base_url"]

    assert (one.text, one.value) == ("https://h.example/…/mcp?key=${KEY}", None)
    assert "may hold a secret: model.base_url" in as_yaml([one], NOW)


def test_an_address_without_secrets_is_exported() -> None:
    settings = Settings.model_validate({"model": {"base_url": "https://h.example/v1"}})

    values = list(listed(settings, {("model", "base_url"): Origin("file", "")}, ()))

    assert "base_url: https://h.example/v1" in as_yaml(values, NOW)
