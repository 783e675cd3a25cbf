"""Many small cases in one test."""

import functools
import inspect
from collections.abc import Callable, Iterable


def for_each(
    names: str | tuple[str, ...], cases: Iterable[object]
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Call a test with one case after the other, written as `pytest.mark.parametrize` is.

    For cases that take microseconds: as tests of their own they cost each process of a run a
    millisecond for the collection and the report. Every case runs, and the failure names each one
    that failed.
    """
    parameters = [name.strip() for name in names.split(",")] if isinstance(names, str) else names
    table = list(cases)
    assert table, "no cases"

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def run(*instance: object, **others: object) -> None:
            failures = []
            for case in table:
                values = case if len(parameters) > 1 else (case,)
                arguments = dict(zip(parameters, values, strict=True))  # type: ignore[call-overload]  # a case of several parameters is a tuple
                try:
                    test(*instance, **arguments, **others)
                except Exception as error:  # noqa: BLE001 - the other cases run as well
                    error.add_note(f"in the case {arguments!r}")
                    failures.append(error)
            if failures:
                raise ExceptionGroup(f"{len(failures)} of {len(table)} cases failed", failures)

        signature = inspect.signature(test)
        left = [one for name, one in signature.parameters.items() if name not in parameters]
        run.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]  # what pytest reads
        return run

    return decorate
