"""Every secret of a configuration, so that logs can be kept clean of them."""

from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit

from pydantic import BaseModel, SecretStr


def secret_values(settings: object) -> Iterator[str]:
    """The values of all secrets in a section, and passwords in the addresses of its stores."""
    if isinstance(settings, SecretStr):
        yield settings.get_secret_value()
    elif isinstance(settings, BaseModel):
        for name in type(settings).model_fields:
            yield from secret_values(getattr(settings, name))
    elif isinstance(settings, Mapping):
        for value in settings.values():
            yield from secret_values(value)
    elif isinstance(settings, tuple | list):
        for value in settings:
            yield from secret_values(value)
    elif isinstance(settings, str) and "://" in settings:
        yield from password_of(settings)


def password_of(url: str) -> Iterator[str]:
    """The password in an address, if it has one."""
    try:
        password = urlsplit(url).password
    except ValueError:
        return
    if password:
        yield password
