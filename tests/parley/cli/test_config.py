"""`parley example-config`: the example configuration, without a checkout."""

from pathlib import Path

from tests.parley.cli.kit import ROOT, parley


async def test_it_prints_the_example_and_check_config_accepts_it(tmp_path: Path) -> None:
    printed = await parley("example-config", cwd=tmp_path)
    assert (printed.status, printed.err) == (0, "")
    assert printed.out == (ROOT / "config" / "parley.example.yaml").read_text("utf-8")
    (tmp_path / "own.yaml").write_text(printed.out, "utf-8")
    checked = await parley("check-config", "--config", "own.yaml", cwd=tmp_path)
    assert "own.yaml is valid." in checked.out
