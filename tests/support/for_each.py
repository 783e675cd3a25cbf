"""Many small cases in one test."""

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

Test: TypeAlias = Callable[..., Any]


def for_each(names: str | tuple[str, ...], cases: Iterable[object]) -> Callable[[Test], Test]:
    """Call a test with one case after the other, written as `pytest.mark.parametrize` is.

    For cases that take microseconds: as tests of their own they cost each process of a run a
    millisecond for the collection and the report. Every case runs, and the failure names each one
    that failed. All cases of a test share its fixtures.
    """
    parameters = [name.strip() for name in names.split(",")] if isinstance(names, str) else names
    table = [_named(parameters, case) for case in cases]
    assert table, "no cases"

    def decorate(test: Test) -> Test:
        @functools.wraps(test)
        def run(*instance: object, **others: object) -> None:
            failures: list[Exception] = []
            for case in table:
                try:
                    test(*instance, **case, **others)
                except Exception as error:  # noqa: BLE001 - the other cases run as well
                    failures.append(_noted(error, case))
            _report(failures, len(table))

        @functools.wraps(test)
        async def run_async(*instance: object, **others: object) -> None:
            failures: list[Exception] = []
            for case in table:
                try:
                    await test(*instance, **case, **others)
                except Exception as error:  # noqa: BLE001 - the other cases run as well
                    failures.append(_noted(error, case))
            _report(failures, len(table))

        made: Test = run_async if inspect.iscoroutinefunction(test) else run
        signature = inspect.signature(test)
        left = [one for name, one in signature.parameters.items() if name not in parameters]
        made.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]  # what pytest reads
        return made

    return decorate


def _named(parameters: list[str] | tuple[str, ...], case: object) -> Mapping[str, object]:
    values: Any = case if len(parameters) > 1 else (case,)
    return dict(zip(parameters, values, strict=True))


def _noted(error: Exception, case: Mapping[str, object]) -> Exception:
    error.add_note(f"in the case {dict(case)!r}")
    return error


def _report(failures: list[Exception], count: int) -> None:
    if failures:
        raise ExceptionGroup(f"{len(failures)} of {count} cases failed", failures)
