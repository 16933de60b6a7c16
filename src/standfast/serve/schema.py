"""The catalogue as JSON Schema and OpenAPI, derived and never written by hand."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Final

import msgspec

import standfast
from standfast.host.operation import Input, Operation
from standfast.host.policy import POLICY
from standfast.serve.errors import STATUS

_REF: Final = "#/components/schemas/{name}"


def input_schema(kind: type[Input]) -> dict[str, Any]:
    """An input's JSON Schema, whole, without references."""
    (schema,), components = msgspec.json.schema_components([kind], ref_template="{name}")
    return _inlined(schema, components)  # type: ignore[no-any-return]  # a schema is a JSON object


def _inlined(part: Any, components: Mapping[str, Any]) -> Any:
    if isinstance(part, Mapping):
        if "$ref" in part:
            return _inlined(components[part["$ref"]], components)
        return {key: _inlined(value, components) for key, value in part.items()}
    if isinstance(part, list):
        return [_inlined(item, components) for item in part]
    return part


def operations(catalogue: Mapping[str, Operation]) -> list[dict[str, Any]]:
    """Every operation with what a caller must know."""
    return [
        {
            "name": entry.name,
            "summary": entry.summary,
            "effect": entry.effect,
            "roles": sorted(POLICY[entry.name]),
            "input": input_schema(entry.input),
        }
        for entry in catalogue.values()
    ]


def openapi(catalogue: Mapping[str, Operation]) -> dict[str, Any]:
    """The OpenAPI 3.1 document of all operations."""
    return {
        "openapi": "3.1.0",
        "info": {"title": "Standfast", "version": standfast.__version__},
        "security": [{"token": []}],
        "paths": {f"/v1/op/{name}": {"post": _path(entry)} for name, entry in catalogue.items()},
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": {"Error": _error_schema(), "Answer": _answer_schema()},
            "responses": _failures(),
        },
    }


def _path(entry: Operation) -> dict[str, Any]:
    answer = {"application/json": {"schema": {"$ref": _REF.format(name="Answer")}}}
    failures = {str(status): {"$ref": f"#/components/responses/{kind.value}"} for kind, status in STATUS.items()}
    return {
        "operationId": entry.name,
        "summary": entry.summary,
        "parameters": [
            {"name": name, "in": "header", "required": False, "schema": {"type": "string", "maxLength": 200}}
            for name in ("Idempotency-Key", "Standfast-Session")
        ],
        "requestBody": {"required": True, "content": {"application/json": {"schema": input_schema(entry.input)}}},
        "responses": {"200": {"description": "The answer.", "content": answer}, **failures},
    }


@cache
def _failures() -> dict[str, Any]:
    error = {"application/json": {"schema": {"$ref": _REF.format(name="Error")}}}
    return {kind.value: {"description": kind.value, "content": error} for kind in STATUS}


@cache
def _error_schema() -> dict[str, Any]:
    fields = {
        "code": {"type": "string"},
        "message": {"type": "string"},
        "retryable": {"type": "boolean"},
        "details": {"type": "object"},
    }
    error = {"type": "object", "required": list(fields), "properties": fields}
    return {"type": "object", "required": ["error"], "properties": {"error": error}}


@cache
def _answer_schema() -> dict[str, Any]:
    fields = {"result": {"type": "object"}, "receipt": {"type": "string"}, "replayed": {"type": "boolean"}}
    return {"type": "object", "required": list(fields), "properties": fields}
