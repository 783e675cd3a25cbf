"""The page of an adapter's methods has every optional ability with its signatures."""

from docs_site.reference.adapter_methods import adapter_methods
from gateway.ports import abilities


def test_every_ability_is_on_the_page() -> None:
    text = adapter_methods()
    names = [name for name in vars(abilities) if name.startswith("Can")]
    assert len(names) > 10
    assert [name for name in names if f"### `{name}`" not in text] == []
    assert "async def fetch(self, attachment: Attachment, limit: int) -> bytes: ...\n" in text
    assert "async def send(self, outbound: Outbound) -> Receipt: ...\n" in text
