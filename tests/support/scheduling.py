"""Gives tests to the processes of a run as `--dist loadgroup` does, at a cost that does not grow
with the number of finished tests: pytest-xdist goes through all of them after each one."""

from typing import TYPE_CHECKING

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadGroupScheduling

if TYPE_CHECKING:
    from xdist.workermanage import WorkerController


class Scheduling(LoadGroupScheduling):  # type: ignore[misc]  # pytest-xdist has no types
    """Forgets groups that are finished, and looks up the number of a test."""

    def __init__(self, config: pytest.Config, log: Producer | None = None) -> None:
        super().__init__(config, log)
        self._numbers: dict[str, int] = {}

    def mark_test_complete(
        self, node: "WorkerController", item_index: int, duration: float = 0
    ) -> None:
        """Note a finished test, and give the process more work."""
        name = self.registered_collections[node][item_index]
        groups, group = self.assigned_work[node], self._split_scope(name)
        groups[group][name] = True
        if all(groups[group].values()):
            del groups[group]
        self._reschedule(node)

    def _assign_work_unit(self, node: "WorkerController") -> None:
        assert self.collection is not None
        if not self._numbers:
            self._numbers = {name: number for number, name in enumerate(self.collection)}
        group, tests = self.workqueue.popitem(last=False)
        self.assigned_work[node][group] = tests
        node.send_runtest_some([self._numbers[name] for name, done in tests.items() if not done])
