"""Two tasks that the same agent hands to the same one: the same task said again, or another one.

`python -m tests.memory.agents.repetitions` prints how many are decided right, and the others.
"""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from memory.agents.handoff_text import read_context, says_same


class Repetition(NamedTuple):
    """The fields of two contexts, and whether they are the same task."""

    id: str
    first: Mapping[str, Any]
    second: Mapping[str, Any]
    same: bool


def _task(task: str, **more: Any) -> dict[str, Any]:
    return {"task_description": task, **more}


REPETITIONS: Final = (
    Repetition("en same bytes", _task("Write the form"), _task("Write the form"), True),
    Repetition("en a full stop", _task("Write the form"), _task("Write the form."), True),
    Repetition("en exclamation marks", _task("Fix the build!"), _task("fix the build!!"), True),
    Repetition("en apostrophes", _task("Check Ada's order"), _task("Check Ada’s order"), True),
    Repetition(
        "en quotation marks", _task('Rename it to "north"'), _task("Rename it to “north”"), True
    ),
    Repetition("en a list mark", _task("- Write the form"), _task("Write the form"), True),
    Repetition("en another number", _task("Restart server 2"), _task("Restart server 3"), False),
    Repetition("en a decimal", _task("Set the limit to 3.5"), _task("Set the limit to 35"), False),
    Repetition("en a sign", _task("Set the offset to -5"), _task("Set the offset to 5"), False),
    Repetition(
        "en other order of people", _task("Tell Ada about Bob"), _task("Tell Bob about Ada"), False
    ),
    Repetition("en not", _task("Deploy on Friday"), _task("Do not deploy on Friday"), False),
    Repetition("en a language", _task("Port it to C"), _task("Port it to C++"), False),
    Repetition("en a sharp", _task("Port it to C"), _task("Port it to C#"), False),
    Repetition("en a comparison", _task("Keep values > 5"), _task("Keep values < 5"), False),
    Repetition("en a path", _task("Delete logs/old"), _task("Delete logs old"), False),
    Repetition("en a hidden file", _task("Delete .env"), _task("Delete env"), False),
    Repetition("en a flag", _task("Run make --dry-run"), _task("Run make dry-run"), False),
    Repetition(
        "en files in another order",
        _task("Review them", relevant_files=["a.py", "b.py"]),
        _task("Review them", relevant_files=["b.py", "a.py"]),
        True,
    ),
    Repetition(
        "en another file",
        _task("Review it", relevant_files=["a.py"]),
        _task("Review it", relevant_files=["b.py"]),
        False,
    ),
    Repetition(
        "en state in another order",
        _task("Go on", current_state={"step": 2, "open": ["a", "b"]}),
        _task("Go on", current_state={"open": ["a", "b"], "step": 2}),
        True,
    ),
    Repetition(
        "en another step",
        _task("Go on", current_state={"step": 2}),
        _task("Go on", current_state={"step": 3}),
        False,
    ),
    Repetition(
        "en steps in another order",
        _task("Go on", current_state={"steps": ["build", "test"]}),
        _task("Go on", current_state={"steps": ["test", "build"]}),
        False,
    ),
    Repetition(
        "en true is not one",
        _task("Go on", current_state={"done": True}),
        _task("Go on", current_state={"done": 1}),
        False,
    ),
    Repetition(
        "de decomposed letters",
        _task("Prüfe die Rechnung"),
        _task("Pru\u0308fe die Rechnung"),
        True,
    ),
    Repetition("de sharp s", _task("Fahr zur Straße 5"), _task("Fahr zur STRASSE 5"), True),
    Repetition(
        "de another day",
        _task("Termin am Montag buchen"),
        _task("Termin am Dienstag buchen"),
        False,
    ),
    Repetition("fr a space before !", _task("Appelle Luc !"), _task("Appelle Luc!"), True),
    Repetition(
        "fr a narrow space", _task("Paie 1\u202f000 euros"), _task("Paie 1 000 euros"), True
    ),
    Repetition("fr another name", _task("Appelle Luc"), _task("Appelle Léa"), False),
    Repetition(
        "es marks on both sides", _task("¡Revisa la factura!"), _task("revisa la factura"), True
    ),
    Repetition("es an accent", _task("Compra papa"), _task("Compra papá"), False),
    Repetition("ru capital letters", _task("Проверь счёт"), _task("ПРОВЕРЬ СЧЁТ"), True),
    Repetition("ru another person", _task("Напиши Анне"), _task("Напиши Ивану"), False),
    Repetition("ja a full stop", _task("請求書を確認する"), _task("請求書を確認する。"), True),
    Repetition("ja wide digits", _task("サーバー2を再起動"), _task("サーバー２を再起動"), True),
    Repetition("ja half-width letters", _task("サーバーを確認"), _task("ｻｰﾊﾞｰを確認"), True),
    Repetition("ja another number", _task("サーバー2を再起動"), _task("サーバー3を再起動"), False),
    Repetition("zh spaces", _task("检查 发票"), _task("检查 发票 "), True),
    Repetition("zh not", _task("发送发票"), _task("不发送发票"), False),
    Repetition(
        "ko a full stop", _task("청구서를 확인해 주세요"), _task("청구서를 확인해 주세요."), True
    ),
    Repetition("ar marks", _task("راجع الفاتورة"), _task("راجع الفاتورة!"), True),
    Repetition(
        "ar another number", _task("أعد تشغيل الخادم 2"), _task("أعد تشغيل الخادم 3"), False
    ),
    Repetition("tr dotted capital", _task("istanbul'a yaz"), _task("İstanbul'a yaz"), True),
    Repetition("zero-width space", _task("Write the form"), _task("Write\u200b the form"), True),
)


def is_same(one: Repetition) -> bool:
    """Compare both contexts as they are read."""
    return says_same(read_context(one.first), read_context(one.second))


def main() -> None:
    """Print the figures, and the inputs that are decided wrong."""
    wrong = [one for one in REPETITIONS if is_same(one) is not one.same]
    print(f"{len(REPETITIONS) - len(wrong)} of {len(REPETITIONS)} right")  # noqa: T201 - the table
    for one in wrong:
        print(f"  {one.id}: same={not one.same}")  # noqa: T201 - the table


if __name__ == "__main__":
    main()
