"""Return a page without its markup."""

from memory.grounding.web_sources import MAX_SCRIPT, as_text


def test_scripts_and_styles_are_removed_with_their_content() -> None:
    page = "a<script src='x'>if (1 < 2) b()</script >c<style>d</style><p>e &amp; f</p>"
    assert as_text(page) == "a c e & f"


def test_an_unclosed_script_is_treated_as_a_tag() -> None:
    assert as_text("a<script>b<p>c") == "a b c"


def test_a_script_beyond_the_limit_loses_its_tags_only() -> None:
    assert as_text(f"<script>{'x' * MAX_SCRIPT}y</script>z").endswith("xy z")


def test_a_closing_tag_closes_the_first_of_several() -> None:
    assert as_text("a<script>b<script>c</script>d</script>e") == "a d e"
