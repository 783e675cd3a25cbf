"""The tables of agents, their sessions and their pools.

A share is readable while two memberships exist: that of the agent that shared it
(`pool_memories.member`) and that of the agent that wrote its present text (`writer`). So leaving a
pool takes effect at once, and the housekeeping deletes what remains. `pool_memories.memory` is the
id under which a memory was shared, `number` the stored memory with the present text; the deletion
of either deletes the share (`memory/schema.py`).
"""

from typing import Final

from db.statements import BY_KEY, NUMBERED

AGENTS: Final = (
    f"""CREATE TABLE agents (
        id text PRIMARY KEY, tenant text NOT NULL, person text NOT NULL, type text NOT NULL,
        capabilities text NOT NULL, registered_at bigint NOT NULL, name text NOT NULL
    ) {BY_KEY}""",
    "CREATE INDEX agents_person ON agents (tenant, person, registered_at)",
    f"""CREATE TABLE agent_sessions (
        id text PRIMARY KEY, tenant text NOT NULL, person text NOT NULL, agent text NOT NULL,
        started_at bigint NOT NULL, at bigint NOT NULL, ended_at bigint
    ) {BY_KEY}""",
    "CREATE INDEX agent_sessions_agent ON agent_sessions (agent)",
    "CREATE INDEX agent_sessions_person ON agent_sessions (tenant, person)",
    "CREATE INDEX agent_sessions_at ON agent_sessions (at) WHERE ended_at IS NULL",
    "CREATE INDEX agent_sessions_ended ON agent_sessions (ended_at) WHERE ended_at IS NOT NULL",
    f"""CREATE TABLE pools (
        id text PRIMARY KEY, tenant text NOT NULL, person text NOT NULL, name text NOT NULL,
        scope integer NOT NULL CHECK (scope BETWEEN 0 AND 4), project text NOT NULL,
        created_at bigint NOT NULL
    ) {BY_KEY}""",
    "CREATE INDEX pools_person ON pools (tenant, person)",
    f"""CREATE TABLE pool_members (
        seq {NUMBERED}, pool text NOT NULL, agent text NOT NULL, tenant text NOT NULL,
        person text NOT NULL, permission text NOT NULL CHECK (permission IN ('read', 'write')),
        granted boolean NOT NULL, joined_at bigint NOT NULL, UNIQUE (pool, agent)
    )""",
    "CREATE INDEX pool_members_agent ON pool_members (agent)",
    "CREATE INDEX pool_members_person ON pool_members (tenant, person)",
    f"""CREATE TABLE pool_memories (
        seq {NUMBERED}, pool text NOT NULL, memory text NOT NULL, number bigint NOT NULL,
        tenant text NOT NULL, person text NOT NULL, agent text NOT NULL, member bigint NOT NULL,
        writer bigint NOT NULL, scope integer NOT NULL CHECK (scope BETWEEN 0 AND 4),
        project text NOT NULL, shared_at bigint NOT NULL, version integer NOT NULL,
        UNIQUE (pool, memory)
    )""",
    "CREATE INDEX pool_memories_newest ON pool_memories (pool, seq)",
    "CREATE INDEX pool_memories_number ON pool_memories (number)",
    "CREATE INDEX pool_memories_memory ON pool_memories (memory)",
    "CREATE INDEX pool_memories_person ON pool_memories (tenant, person)",
)
