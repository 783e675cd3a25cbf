"""The language that a platform tells is matched with the offered ones."""

from gateway.languages.negotiation import fitting
from tests.support.for_each import for_each

OFFERED = ("en", "de", "pt", "zh_Hans", "zh_Hant", "nb")


@for_each(
    "tag, expected",
    [
        *(("de", "de"), ("de-AT", "de"), ("DE_ch", "de"), ("en-GB", "en"), ("pt-PT", "pt")),
        *(("zh", "zh_Hans"), ("zh-CN", "zh_Hans"), ("zh-Hans-SG", "zh_Hans")),
        *(("zh-TW", "zh_Hant"), ("zh-HK", "zh_Hant"), ("zh_Hant", "zh_Hant"), ("zh-MO", "zh_Hant")),
        *(("", ""), ("fr", ""), ("xx-YY", ""), ("-", ""), ("d" * 36, ""), ("deutsch", "")),
        ("de-\N{ARABIC LETTER ALEF}", "de"),
    ],
)
def test_a_tag_finds_the_offered_language(tag: str, expected: str) -> None:
    assert fitting(tag, OFFERED) == expected


def test_without_chinese_nothing_else_is_offered_for_it() -> None:
    assert fitting("zh-TW", ("en", "zh_Hans")) == ""


def test_an_added_language_is_found_by_its_own_name() -> None:
    for added in ("zh_HK", "zh_TW", "zh", "de_AT"):
        offered = (*OFFERED, added)
        assert [fitting(one, offered) for one in offered] == [*offered]
