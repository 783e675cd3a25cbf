"""The pages that the site generator reads: links that leave docs/ still lead somewhere."""

from pathlib import Path, PurePosixPath

import pytest

from docs_site.diagrams import Drawer
from docs_site.staging import DeadLink, Stage

FILES = {
    "docs/index.md": "# Home\n",
    "docs/image.png": "picture",
    "CONTRIBUTING.md": "# Contribute\n\n[terms](docs/deep/terms.md#word) [licence](LICENSE)\n",
    "LICENSE": "Free.\n",
    "docs/deep/terms.md": "# Terms\n\n[home](../index.md)\n",
    "pkg/__init__.py": '"""A package | of parts."""\n',
    "pkg/part.py": '"""One part."""\n\nVALUE = 1\n',
    "kit/README.md": "# Kit\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        file = tmp_path / "root" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return tmp_path / "root"


def staged(root: Path, page: str, sources: str = "") -> str:
    """Return the staged text of a page at docs/deep/page.md."""
    (root / "docs" / "deep" / "page.md").write_text(page)
    to = root.parent / "pages"
    Stage(root, to, Drawer(None), sources).write()
    return (to / "deep" / "page.md").read_text()


def page_at(root: Path, place: str) -> str:
    return (root.parent / "pages" / place).read_text()


@pytest.mark.parametrize(
    "link", ["terms.md#word", "../index.md", "../image.png", "#here", "https://example.org/a/../b"]
)
def test_a_link_within_the_documentation_stays_as_it_is(root: Path, link: str) -> None:
    assert staged(root, f"[x]({link})") == f"[x]({link})"


def test_a_link_to_a_file_leads_to_a_page_with_its_text(root: Path) -> None:
    assert staged(root, "[`x`](../../pkg/part.py)") == "[`x`](../source/pkg/part.py.md)"
    assert "VALUE = 1" in page_at(root, "source/pkg/part.py.md")


def test_a_link_to_a_folder_leads_to_a_list_of_its_files_with_their_purpose(root: Path) -> None:
    assert staged(root, "[x](../../pkg/)") == "[x](../source/pkg.md)"
    assert "| `part.py` | One part. |" in page_at(root, "source/pkg.md")


def test_a_link_to_a_folder_with_a_first_page_leads_to_that_page(root: Path) -> None:
    assert staged(root, "[x](../../kit)") == "[x](../source/kit/index.md)"
    assert page_at(root, "source/kit/index.md") == "# Kit\n"


def test_the_links_of_a_page_from_outside_are_followed(root: Path) -> None:
    assert staged(root, "[x](../../CONTRIBUTING.md)") == "[x](../source/CONTRIBUTING.md)"
    page = page_at(root, "source/CONTRIBUTING.md")
    assert "[terms](../deep/terms.md#word)" in page
    assert "[licence](LICENSE.md)" in page
    assert "Free." in page_at(root, "source/LICENSE.md")


def test_with_an_address_of_the_repository_links_to_files_lead_there(root: Path) -> None:
    address = "https://forge.example.org/parley/blob/main"
    text = staged(root, "[x](../../pkg/part.py) [y](../../pkg) [z](../../CONTRIBUTING.md)", address)
    assert text == f"[x]({address}/pkg/part.py) [y]({address}/pkg) [z](../source/CONTRIBUTING.md)"


@pytest.mark.parametrize("link", ["missing.md", "../../pkg/gone.py", "../../../outside.md"])
def test_a_dead_link_ends_the_build_and_names_page_and_link(root: Path, link: str) -> None:
    with pytest.raises(DeadLink, match=rf"docs/deep/page\.md: .*{link}"):
        staged(root, f"[x]({link})")


@pytest.mark.parametrize(
    "code",
    ["`[x](missing.md)`", "```sh\n[x](missing.md)\n```", "````md\n```\n[x](gone)\n```\n````"],
)
def test_code_is_not_read_for_links(root: Path, code: str) -> None:
    assert staged(root, code) == code


def test_a_diagram_becomes_an_image_for_a_light_and_a_dark_page(root: Path, tmp_path: Path) -> None:
    drawer = Drawer(lambda text, theme: f"<svg>{theme}: {text}</svg>")
    page = "# Way of an event\n\n```mermaid\nflowchart LR\n```\n"
    shown = drawer.with_images(page, PurePosixPath("deep/page.md"), tmp_path)
    assert "```" not in shown
    for key in ("light", "dark"):
        (image,) = tmp_path.glob(f"images/diagrams/*-{key}.svg")
        link = f"![Diagram: Way of an event](../images/diagrams/{image.name}#only-{key})"
        assert link in shown
        assert "flowchart LR" in image.read_text()


def test_without_a_renderer_a_diagram_stays_text(root: Path) -> None:
    page = "```mermaid\nflowchart LR\n```\n"
    assert staged(root, page) == page
