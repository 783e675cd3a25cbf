"""The audiences of a share name exactly those who may read it."""

from hypothesis import given
from hypothesis import strategies as st

from gateway.immutable import replace
from memory.model.scope import AccessScope, Share, shows_shared
from memory.stores.shared_memories import audiences_of, audiences_read
from tests.memory.stores.records import record

AGENTS = st.sampled_from(("a", "b"))
PERSONS = st.sampled_from(("p", "q", "r"))
PROJECTS = st.sampled_from(("", "x", "y"))
TENANTS = st.sampled_from(("t", "u"))
POOLS = st.sampled_from(("pool-1", "pool-2"))
scopes = st.integers(0, 4)


@given(
    asks=st.builds(
        AccessScope,
        tenant=TENANTS,
        person=PERSONS,
        persons=st.sets(PERSONS, min_size=1).map(tuple),
        room=st.just(""),
        project=PROJECTS,
        private=st.just(True),
        operates=st.booleans(),
        agent=AGENTS,
        widest=scopes,
        outside=st.booleans(),
    ),
    share=st.builds(Share, TENANTS, AGENTS, PERSONS, scopes, PROJECTS, st.just(frozenset())),
    pool=POOLS,
    joined=st.dictionaries(POOLS, st.booleans()),
)
def test_an_agent_belongs_to_an_audience_if_the_rule_shows_it_the_share(
    asks: AccessScope, share: Share, pool: str, joined: dict[str, bool]
) -> None:
    known = {(asks.agent, joined[pool])} if pool in joined else set()
    shared = record("tea", "p", tenant=share.tenant)
    audiences = audiences_of(
        *(share.tenant, pool, share.scope),
        agent=share.agent,
        person=share.person,
        project=share.project,
    )
    shown = shows_shared(asks, shared, replace(share, readers=frozenset(known)))
    read = audiences_read(asks, joined.items())
    assert bool({*audiences.split()} & {*read}) is shown
