"""Which adapters a test is about: those that declare a capability, those that do not, others."""

import pytest

proves = pytest.mark.proves
lacks = pytest.mark.lacks
where = pytest.mark.where.with_args
