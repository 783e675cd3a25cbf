"""Definitions of each language are recognised, with what they belong to."""

import pytest

from memory.knowledge.splitting import split_file
from memory.knowledge.splitting.code import definitions_in

CASES = [
    (
        "python",
        "class A(B):\n    async def f(self):\n        x = 1\nLIMIT: Final = 3\n",
        "A A.f LIMIT",
    ),
    ("python", "@decorated\ndef f():\n    def g():\n        pass\nvalue = f()\n", "f f.g"),
    (
        "go",
        "type Mux struct {\n}\nfunc (mx *Mux) Use(a int) {\n}\nfunc New[T any]() {\n",
        "Mux Mux.Use New",
    ),
    (
        "rust",
        "pub(crate) async fn f() {\n}\nimpl<'a, T: X<Y>> De for Ser<T> {\n    fn g() {\n",
        "f Ser Ser.g",
    ),
    (
        "rust",
        "pub trait Visitor {\n    fn visit(self);\n}\nmacro_rules! m {\n",
        "Visitor Visitor.visit m",
    ),
    ("javascript", "export default class A {\n  get b() {\n    if (x) {\n", "A A.b"),
    (
        "javascript",
        "app.use = function use(fn) {\n}\nexports.json = 1\nconst f = (a) => a\n",
        "app.use json f",
    ),
    (
        "typescript",
        "export interface A {\n}\nexport type B = C\nexport async function f() {\n",
        "A B f",
    ),
    (
        "java",
        "public final class A<T> {\n  A(int b) {\n  private static List<T> f(int a) {\n    g(a);\n",
        "A A.A A.f",
    ),
    ("csharp", "namespace N {\n  internal sealed record R(int A);\n", "N N.R"),
    (
        "c",
        "static int *find(const char *a)\n{\n  return g(a);\n}\n#define LIMIT 3\nint f(void);\n",
        "find LIMIT",
    ),
    ("cpp", "void Foo::bar(int a) {\n  call(a);\n  return f();\n}\n", "Foo.bar"),
    ("ruby", "module A\n  class B::C < D\n    def self.e?(f)\n", "A B.C B.C.e?"),
    ("kotlin", "data class A(val b: Int)\nfun <T> List<T>.f(): T {\n", "A List.f"),
    ("scala", "case class A(b: Int) {\n  private def f = 1\n", "A A.f"),
    ("swift", "public struct A {\n  mutating func f() {\n", "A A.f"),
    ("php", "final class A {\n    public static function f($a) {\n", "A A.f"),
    ("elixir", "defmodule A.B do\n  defp f(x), do: x\n", "A.B A.B.f"),
    ("haskell", "data A = B\nmapM' :: Int\nmapM' x = x\n", "A mapM'"),
    ("lua", "local function f()\nend\nfunction M.g()\nend\nM.h = function()\n", "f M.g M.h"),
    ("bash", "deploy() {\n  echo\n}\nfunction undo {\n", "deploy undo"),
    ("zig", "pub const A = struct {\n    pub fn f() void {\n", "A A.f"),
    ("sql", "CREATE TABLE IF NOT EXISTS app.users (\n", "users"),
    ("hcl", 'resource "aws_s3_bucket" "logs" {\n', "aws_s3_bucket.logs"),
    ("proto", "message A {\n}\nservice B {\n  rpc C (A) returns (A);\n", "A B B.C"),
    ("graphql", "type A {\n", "A"),
    ("clojure", "(defn- f [x] x)\n", "f"),
    ("dart", "class A {\n  void f(int b) {\n", "A A.f"),
]


@pytest.mark.parametrize(("language", "text", "names"), CASES)
def test_definitions_have_qualified_names(language: str, text: str, names: str) -> None:
    result = definitions_in(language, text.split("\n"))
    assert " ".join(definition.name for definition in result) == names


@pytest.mark.parametrize(
    ("language", "line"),
    [
        ("java", "    return value(1);"),
        ("java", " * Copyright (C) 2008 Google {"),
        ("javascript", "  if (a) {"),
        ("cpp", "  } else if (a(b)) {"),
        ("python", "# def f():"),
        ("python", "value = 1"),
        ("go", "	if f(x) {"),
        ("text", "def f():"),
    ],
)
def test_use_and_comments_are_no_definitions(language: str, line: str) -> None:
    assert not list(definitions_in(language, [line]))


def test_a_definition_begins_with_its_comments_and_decorators() -> None:
    body = "    pass\n" * 200
    text = f"def f():\n{body}\n# why\n@cached\ndef g():\n{body}"
    chunks = split_file("a.py", text).chunks
    begins = [chunk.text for chunk in chunks if "g" in chunk.symbol.split()]
    assert begins[0].startswith("# why\n@cached\ndef g():")


def test_small_definitions_share_a_chunk_that_names_all_of_them() -> None:
    (chunk,) = split_file("a.py", "def f():\n    pass\n\n\ndef g():\n    pass\n").chunks
    assert (chunk.symbol, chunk.first_line, chunk.last_line) == ("f g", 1, 6)


def test_an_implementation_continues_a_type_and_does_not_define_it() -> None:
    text = "impl Foo {\n    fn bar() {}\n}\n"
    (chunk,) = split_file("a.rs", text).chunks
    assert chunk.symbol == "Foo.bar"
