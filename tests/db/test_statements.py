"""Statements are written once and mean the same on both engines."""

import pytest

from db import Statement, among, either
from db.statements import Statement as Same
from db.statements import in_byte_order, json_text, json_values


def test_parameters_have_the_form_of_each_engine() -> None:
    statement = Statement("SELECT :a, :b_2 FROM t WHERE x = ':a' AND y = 'it''s :b'")
    assert statement.sqlite == "SELECT ?1, ?2 FROM t WHERE x = ':a' AND y = 'it''s :b'"
    assert statement.postgres == ("SELECT %(a)s, %(b_2)s FROM t WHERE x = ':a' AND y = 'it''s :b'")


def test_percent_signs_reach_postgres_unchanged() -> None:
    assert Statement("SELECT 7 % 2, 'a%b' LIKE :p").postgres == ("SELECT 7 %% 2, 'a%%b' LIKE %(p)s")


def test_a_fragment_differs_by_engine() -> None:
    statement = Statement(f"SELECT {either(sqlite='a', postgres='b')} WHERE {among('x', 'ids')}")
    assert statement.sqlite == "SELECT a WHERE x IN (SELECT value FROM json_each(?1))"
    assert statement.postgres == "SELECT b WHERE x = ANY (%(ids)s)"


@pytest.mark.parametrize("source", ["SELECT :a::text", "SELECT ?"])
def test_syntax_of_a_single_engine_is_refused(source: str) -> None:
    with pytest.raises(ValueError, match="write"):
        Statement(source)


def test_lists_are_json_for_sqlite_and_other_values_are_unchanged() -> None:
    statement = Same(f"SELECT {in_byte_order('id')} FROM t WHERE {among('id', 'ids')}")
    assert statement.for_sqlite({"ids": ["a", "ü"], "n": 1}) == ['["a", "\\u00fc"]']


def test_values_for_sqlite_are_in_the_order_of_their_numbers() -> None:
    statement = Statement("SELECT :b, :a, :b, 7 % 2")
    assert statement.sqlite == "SELECT ?1, ?2, ?1, 7 % 2"
    assert list(statement.for_sqlite({"a": 1, "b": 2, "c": 3})) == [2, 1]
    assert list(Statement("SELECT :a").for_sqlite({"a": "one"})) == ["one"]
    assert list(Statement("SELECT 1").for_sqlite({"a": 1})) == []


def test_json_is_read_by_a_path_of_keys() -> None:
    statement = Statement(f"SELECT {json_text('d', 'a', 'b')} FROM {json_values(':l', 'one')}")
    assert statement.sqlite == "SELECT json_extract(d, '$.a.b') FROM json_each(?1) AS one"
    assert statement.postgres == (
        "SELECT (CAST(d AS jsonb) #>> '{a,b}')"
        " FROM json_array_elements_text(CAST(%(l)s AS json)) AS one (value)"
    )
