"""Lists as forges accept them become lists that the site's parser accepts."""

import pytest

from docs_site.lists import with_wide_lists


@pytest.mark.parametrize(
    ("written", "wide"),
    [
        ("- a\n  - b\n- c", "- a\n    - b\n- c"),
        ("1. a\n   - b\n     - c", "1. a\n    - b\n        - c"),
        ("10. a\n    - b", "10. a\n    - b"),
        ("- a\n  b", "- a\n    b"),
        ("- a\n\n  b\n- c", "- a\n\n    b\n\n- c"),
        ("1. a\n\n   ```sh\n   x\n     y\n   ```\n2. b",
         "1. a\n\n    ```sh\n    x\n      y\n    ```\n\n2. b"),
        ("- a\n\ntext", "- a\n\ntext"),
        ("```\n- a\n  - b\n```", "```\n- a\n  - b\n```"),
        ("````md\n```\n- a\n  - b\n```\n````\n", "````md\n```\n- a\n  - b\n```\n````\n"),
    ],
)  # fmt: skip
def test_the_content_of_an_item_is_indented_by_four_spaces(written: str, wide: str) -> None:
    assert with_wide_lists(written) == wide
