"""The OpenAPI document: every operation with its arguments, replies, examples and errors."""

from typing import Any

from metamem import __version__
from metamem.service import wire
from metamem.service.operation import Operation
from metamem.service.problems import MEDIA_TYPE, Problem
from metamem.web.examples import EXAMPLES
from metamem.web.schemas import Schema, properties, schema

_ABOUT = """What agents remember, share and recall.

Every request carries an API key (`Authorization: Bearer mm_…`). Times are milliseconds since 1970,
UTC. Errors are `application/problem+json` with `detail` (what went wrong) and `hint` (what to do).
What a key may not see and what is not there get the same answer. Writes take an `Idempotency-Key`:
the same key with the same request gives the same reply for a day."""

_ERRORS = {
    400: "The body is not JSON.",
    401: "No API key, or one that opens nothing.",
    403: "No right to the scope, or there is no such scope: which, is not told.",
    404: "There is no such thing, or the key may not see it: which, is not told.",
    409: "It contradicts what is there: the idempotency key was used for another request, or the"
    " same request is being worked on.",
    410: "It was erased.",
    413: "The body is too large.",
    415: "The body is not declared as application/json.",
    422: "The request cannot be understood or is not allowed as it is.",
    429: "More requests or facts than the key allows; Retry-After says when to ask again.",
    500: "A fault of the service itself.",
    501: "The server lacks an optional part.",
    503: "The store cannot do that now: its disk may be full or busy.",
}
STREAMED: dict[str, Schema] = {"application/x-ndjson": {}, "text/markdown": {}}


def document(operations: tuple[Operation[Any, Any], ...]) -> dict[str, Any]:
    known: dict[str, Schema] = {}
    paths: dict[str, dict[str, Any]] = {}
    for operation in operations:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _described(
            operation, known
        )
    schema(Problem, known)
    headers = {"Retry-After": {"schema": {"type": "integer"}, "description": "In seconds."}}
    answers = {
        str(status): {
            "description": words,
            "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
            **({"headers": headers} if status in (409, 429, 503) else {}),
        }
        for status, words in _ERRORS.items()
    }
    return {
        "openapi": "3.1.0",
        "info": {"title": "metamem memory service", "version": __version__, "description": _ABOUT},
        "security": [{"key": []}],
        "paths": paths,
        "components": {
            "schemas": known,
            "responses": answers,
            "securitySchemes": {
                "key": {
                    "type": "http",
                    "scheme": "bearer",
                    "bearerFormat": "mm_ID_SECRET",
                    "description": "`metamem keys make` makes one.",
                }
            },
        },
    }


def _described(operation: Operation[Any, Any], known: dict[str, Schema]) -> dict[str, Any]:
    made: dict[str, Any] = {
        "operationId": operation.name,
        "summary": operation.about.split(". ")[0].rstrip("."),
        "description": operation.about,
        "tags": [operation.path.split("/")[2]],
        "parameters": _parameters(operation),
        "responses": {
            **_answer(operation, known),
            **{str(s): {"$ref": f"#/components/responses/{s}"} for s in _ERRORS},
        },
    }
    if operation.has_body:
        made["requestBody"] = _body(operation, known)
    return made


def _parameters(operation: Operation[Any, Any]) -> list[dict[str, Any]]:
    fields = properties(operation.takes, {})
    made: list[dict[str, Any]] = [
        {"name": name, "in": "path", "required": True, "schema": {**fields[name], "minLength": 1}}
        for name in operation.in_path
    ]
    if not operation.has_body:
        needed = wire.needed(operation.takes)
        for name in operation.others:
            described = fields[name]
            if "anyOf" in described:  # what is left out is null
                (described, _) = described["anyOf"]
            if described.get("type") == "string" and "enum" not in described:
                described = {**described, "maxLength": wire.LONGEST_VALUE}
            made.append(
                {"name": name, "in": "query", "required": name in needed, "schema": described}
            )
    if operation.writes and operation.repeatable:
        words = "Of your own making: the same request under the same key is carried out once."
        shape = {"type": "string", "minLength": 1, "maxLength": 200, "pattern": "^[!-~]+$"}
        made.append(
            {"name": "Idempotency-Key", "in": "header", "description": words, "schema": shape}
        )
    return made


def _body(operation: Operation[Any, Any], known: dict[str, Schema]) -> dict[str, Any]:
    names = operation.others
    fields = properties(operation.takes, known)
    needed = [name for name in wire.needed(operation.takes) if name in names]
    shape: Schema = {
        "type": "object",
        "properties": {name: fields[name] for name in names},
        "additionalProperties": False,
    }
    if needed:
        shape["required"] = needed
    for kind in (
        "Draft",
        "Turn",
        "Experience",
        "Step",
        "Message",
    ):  # what is sent is checked to the last name
        if kind in known:
            known[kind]["additionalProperties"] = False
    content: dict[str, Any] = {"schema": shape}
    if operation.name in EXAMPLES:
        content["example"] = EXAMPLES[operation.name]
    return {"required": bool(needed), "content": {"application/json": content}}


def _answer(operation: Operation[Any, Any], known: dict[str, Schema]) -> dict[str, Any]:
    if operation.gives is type(None):
        return {"204": {"description": "Done."}}
    if operation.streams:
        return {"200": {"description": "All of it, in pieces.", "content": dict(STREAMED)}}
    shape = schema(operation.gives, known)
    return {"200": {"description": "Done.", "content": {"application/json": {"schema": shape}}}}
