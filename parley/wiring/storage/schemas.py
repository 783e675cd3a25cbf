"""The tables of all domains, in the order in which a database gets them."""

from typing import Final

from db.migrations import Schema
from gateway.stores import schema as gateway_schema
from memory import schema as memory_schema

SCHEMAS: Final[tuple[Schema, ...]] = (gateway_schema.SCHEMA, memory_schema.SCHEMA)
