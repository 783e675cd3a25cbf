"""The contract suite for the platforms of Parley, over their real client libraries."""

from parley.testing.contract import *  # noqa: F403 - every test of the suite
from tests.contract.cases import CASES

ADAPTER_CASES = tuple(CASES.values())
