"""The contract suite of Parley, for this adapter."""

from lines_people import CASE

from parley.testing.contract import *  # noqa: F403 - every test of the suite

ADAPTER_CASES = (CASE,)
