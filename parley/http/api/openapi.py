"""The OpenAPI 3.1 description, made from the operations and their models."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from pydantic import BaseModel
from pydantic.json_schema import JsonSchemaMode, models_json_schema

from memory.actions.call import MAX_ID
from parley.http.api import PREFIX
from parley.http.api.errors import ErrorOut
from parley.http.api.operations import JSON, Operation

PATH: Final = "/openapi.json"
_REF: Final = "#/components/schemas/{model}"
_ALWAYS: Final = {
    400: "A parameter or the body is invalid; `where` names it.",
    401: "The token is missing, invalid or expired.",
    403: "The configuration does not allow this person to use the API, or to do this.",
    429: "Too many requests.",
    503: "A store or a memory backend does not answer; `where` names the store.",
}
_WITH_BODY: Final = {
    408: "The body did not arrive in time.",
    413: "The body is too large.",
    415: "The body is not JSON.",
}
_HEADERS: Final = {401: ("WWW-Authenticate",), 429: ("Retry-After",), 503: ("Retry-After",)}

_LINKS: Final = {
    ("remember", 201): {"memory": "memory_id", "forget": "memory_id"},
    ("remember", 202): {"approve": "review_id", "reject": "review_id"},
    ("memories", 200): {"memory": "memories/0/id", "forget": "memories/0/id"},
    ("reviews", 200): {"approve": "reviews/0/id", "reject": "reviews/0/id"},
    ("register", 201): {
        "agent": "id",
        "take_back": "id",
        "start_session": "id",
        "unregister": "id",
    },
    ("start_session", 201): {"use_session": "id", "end_session": "id"},
    ("agents", 200): {"agent": "agents/0/id", "take_back": "agents/0/id"},
    ("pools", 200): {"pool": "pools/0/id", "delete_pool": "pools/0/id"},
    ("handoffs", 200): {"reject_handoff": "handoffs/0/id"},
}
"""The place of the id in a response that another operation takes."""

Json = dict[str, object]
Schemas = Mapping[Any, dict[str, Any]]
"""JSON schemas by model and mode, made by pydantic."""


def describe(operations: Sequence[Operation]) -> Json:
    """Return the OpenAPI description as JSON-like values."""
    inputs: set[type[BaseModel]] = {one for each in operations for one in (each.query, each.body)}
    outputs = {model for each in operations for model, _ in each.answers.values() if model}
    models: list[tuple[type[BaseModel], JsonSchemaMode]] = [
        *((model, "validation") for model in _sorted(inputs)),
        *((model, "serialization") for model in _sorted(outputs | {ErrorOut})),
    ]
    schemas, definitions = models_json_schema(models, ref_template=_REF)
    paths: dict[str, Json] = {PREFIX + PATH: {"get": _own(schemas)}}
    for each in operations:
        path = paths.setdefault(PREFIX + each.path, {})
        path[each.method.lower()] = _operation(each, schemas)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Parley's memory",
            "version": "1",
            "description": "The memories, documents and agents of the person who has the token.",
        },
        "servers": [{"url": "/"}],
        "security": [{"person": []}],
        "paths": paths,
        "components": {
            "schemas": _without_queries(definitions.get("$defs", {}), inputs),
            "securitySchemes": {
                "person": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "The token that `parley token PERSON` prints.",
                }
            },
        },
    }


def _operation(operation: Operation, schemas: Schemas) -> Json:
    described: Json = {
        "operationId": operation.name,
        "summary": operation.summary,
        "parameters": [*_path(operation), *_query(operation)],
        "responses": _responses(operation, schemas),
    }
    if operation.takes_body:
        described["requestBody"] = {
            "required": operation.body_required,
            "content": {JSON: {"schema": schemas[operation.body, "validation"]}},
        }
    return described


def _path(operation: Operation) -> list[Json]:
    if "{id}" not in operation.path:
        return []
    text = {"type": "string", "minLength": 1, "maxLength": MAX_ID}
    return [{"name": "id", "in": "path", "required": True, "schema": text}]


def _query(operation: Operation) -> list[Json]:
    whole = operation.query.model_json_schema(ref_template=_REF)
    return [
        {
            "name": name,
            "in": "query",
            "required": False,
            "description": schema.pop("description", ""),
            "schema": _without_null(schema),
        }
        for name, schema in whole.get("properties", {}).items()
    ]


def _without_null(schema: Json) -> Json:
    """Return the schema without null: a parameter is omitted instead."""
    options = schema.get("anyOf")
    schema.pop("title", None)
    if not isinstance(options, list):
        return schema
    (only,) = (option for option in options if option != {"type": "null"})
    return dict(only)


def _responses(operation: Operation, schemas: Schemas) -> Json:
    responses: Json = {}
    for status, (model, text) in operation.answers.items():
        answer: Json = {"description": text}
        if model is not None:
            answer["content"] = {JSON: {"schema": schemas[model, "serialization"]}}
        links = _LINKS.get((operation.name, status), {})
        if links:
            answer["links"] = {name: _link(name, place) for name, place in links.items()}
        responses[str(status)] = answer
    refusals = {**_ALWAYS, **(_WITH_BODY if operation.takes_body else {}), **operation.refusals}
    for status, text in sorted(refusals.items()):
        responses[str(status)] = _refusal(status, text, schemas)
    return responses


def _link(name: str, place: str) -> Json:
    return {"operationId": name, "parameters": {"id": f"$response.body#/{place}"}}


def _refusal(status: int, text: str, schemas: Schemas) -> Json:
    answer: Json = {
        "description": text,
        "content": {JSON: {"schema": schemas[ErrorOut, "serialization"]}},
    }
    if status in _HEADERS:
        shape = {"required": True, "schema": {"type": "string"}}
        answer["headers"] = dict.fromkeys(_HEADERS[status], shape)
    return answer


def _own(schemas: Schemas) -> Json:
    """Return the operation for this description. People with access to the local pages need no
    token for it."""
    refusals = {status: _ALWAYS[status] for status in _ALWAYS if status != 400}
    return {
        "operationId": "description",
        "summary": "This description",
        "security": [{}, {"person": []}],
        "parameters": [],
        "responses": {
            "200": {
                "description": "OpenAPI 3.1.",
                "content": {JSON: {"schema": {"type": "object"}}},
            },
            **{str(status): _refusal(status, text, schemas) for status, text in refusals.items()},
        },
    }


def _without_queries(definitions: Mapping[str, object], inputs: set[type[BaseModel]]) -> Json:
    """Return the definitions of bodies and responses; parameters are described where they are
    used."""
    queries = {model.__name__ for model in inputs if model.__name__.endswith("Query")} | {"Plain"}
    return {name: schema for name, schema in definitions.items() if name not in queries}


def _sorted(models: set[type[BaseModel]]) -> list[type[BaseModel]]:
    return sorted(models, key=lambda model: model.__name__)
