"""The generators of the reference pages: what they say is read from the product's own tables."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from standfast.cli.commands import build_parser
from standfast.domain.errors import CODES
from standfast.domain.machine import Machine
from standfast.domain.message import MESSAGE
from standfast.domain.plan import EXECUTION, INTENT, PLAN, TRACKER
from standfast.domain.session import SESSION, TURN
from standfast.host.catalogue import CATALOGUE
from standfast.host.operation import Operation
from standfast.host.policy import POLICY, ROLES
from standfast.serve.agent import DEFAULT_GROUPS
from standfast.serve.errors import STATUS
from standfast.serve.schema import input_schema, openapi

MACHINES: Mapping[Machine, str] = {
    SESSION: "A client's session. Closing it is the only thing that ends what it left pending.",
    TURN: "One active turn per session. What ended it is its stop reason: completed, aborted, error or lost.",
    PLAN: "A proposal. Only a person leads to `approved`; silence leads to `expired`.",
    EXECUTION: "The work on an approved plan. It is claimed at most once.",
    TRACKER: "The progress of an approved plan in one session. It keeps its ticks when the execution has ended.",
    MESSAGE: "What the host has to tell an agent, delivered at most once.",
    INTENT: "An artifact that was announced before its file was written, so that a crash leaves nothing behind.",
}


def page(title: str, derived: str, lines: Iterable[str]) -> str:
    """A page with its title and the note where it comes from."""
    return "\n".join([f"# {title}", "", f"Generated from {derived} by `make docs`; do not edit.", "", *lines, ""])


def row(*cells: object) -> str:
    """One line of a table."""
    return "| " + " | ".join(str(cell).replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def table(*heads: str) -> list[str]:
    """The head of a table."""
    return [row(*heads), row(*("---" for _ in heads))]


def errors() -> str:
    """Every code."""
    lines = [
        "A refusal is an answer: nothing of the operation was written, and the message says what to do instead.",
        "",
        *table("Code", "Kind", "HTTP", "Retry as it is", "Meaning"),
    ]
    for code, spec in CODES.items():
        lines.append(
            row(f"`{code}`", spec.kind.value, STATUS[spec.kind], "yes" if spec.retryable else "", spec.meaning)
        )
    return page("Errors", "the error registry", lines)


def states() -> str:
    """Every transition table as a diagram."""
    lines: list[str] = []
    for machine, meaning in MACHINES.items():
        lines += [f"## {machine.name.capitalize()}", "", meaning, "", "```mermaid", machine.mermaid(), "```", ""]
    return page("States", "the transition tables", lines[:-1])


def operations() -> str:
    """Every operation: who may call it, what it takes, what it is for a model."""
    lines = [
        "Each is `POST /v1/op/NAME` with a JSON body, and `standfast call NAME --json INPUT` on the command line.",
        "A write takes an `Idempotency-Key`; the same key with the same input gives the stored answer.",
        "",
        "## Who may call what",
        "",
        *table("Operation", "Effect", *ROLES),
    ]
    for name, entry in CATALOGUE.items():
        lines.append(row(f"[`{name}`](#{name.replace('.', '')})", entry.effect, *_granted(name)))
    for name, entry in CATALOGUE.items():
        lines += ["", f"## {name}", "", entry.summary, *_notes(entry), "", *_fields(input_schema(entry.input))]
    return page("Operations", "the catalogue and the policy", lines)


def _granted(name: str) -> list[str]:
    return ["yes" if role in POLICY[name] else "" for role in ROLES]


def _notes(entry: Operation) -> Iterator[str]:
    if entry.tool is not None:
        yield f"For a model: the tool [`{entry.tool.name}`](tools.md#{entry.tool.name})."
    if entry.verdict:
        yield "Its receipts are kept for ever."
    if entry.waiting is not None:
        yield "With `wait_seconds` it answers when something has happened, or after that time."


def _fields(schema: Mapping[str, Any]) -> list[str]:
    properties = schema.get("properties", {})
    if not properties:
        return ["It takes nothing."]
    required = schema.get("required", ())
    rows = [
        row(f"`{name}`", _kind(field), "yes" if name in required else "", _limits(field))
        for name, field in properties.items()
    ]
    return [*table("Field", "Type", "Required", "Limits"), *rows]


def _kind(field: Mapping[str, Any]) -> str:
    if "enum" in field:
        return ", ".join(f"`{value}`" for value in field["enum"] if value is not None)
    if "anyOf" in field:
        return " or ".join(_kind(part) for part in field["anyOf"] if part.get("type") != "null")
    if field.get("type") == "array":
        return f"list of {_kind(field['items'])}"
    return str(field.get("type", "any"))


def _limits(field: Mapping[str, Any]) -> str:
    names = {
        "minLength": "at least {} characters",
        "maxLength": "at most {} characters",
        "minimum": "at least {}",
        "maximum": "at most {}",
        "maxItems": "at most {} items",
    }
    parts = [field, *field.get("anyOf", ())]
    found = [words.format(part[key]) for part in parts for key, words in names.items() if key in part]
    if field.get("default") not in (None, "", [], False) and not isinstance(field["default"], dict):
        found.append(f"default `{field['default']}`")
    return ", ".join(dict.fromkeys(found))


def tools() -> str:
    """What a model sees over MCP."""
    lines = [
        "What a model gets from `standfast mcp` or `/mcp`. No tool gives a verdict: that is a person's.",
        "The groups `plan` and `resume` are listed to every client; `--tools` names others or `all`.",
    ]
    for entry in CATALOGUE.values():
        tool = entry.tool
        if tool is None:
            continue
        schema = input_schema(entry.input)
        shown = {name: field for name, field in schema.get("properties", {}).items() if name not in tool.hidden}
        facts = [
            "announced as read-only, so that a client's plan mode lets it pass" if tool.read_only else "writes",
            f"tool group `{tool.group}`" + ("" if tool.group in DEFAULT_GROUPS else ", on request"),
        ]
        lines += ["", f"## {tool.name}", "", tool.description, "", f"{', '.join(facts)}; operation `{entry.name}`."]
        lines += ["", *_fields({**schema, "properties": shown})]
    return page("Tools", "the catalogue", lines)


def commands() -> str:
    """Every command of the command line."""
    lines = [
        "Every command takes `--json`, `--home DIR` and `--debug`. Exit status: 0 done, 1 refused,",
        "2 wrong usage, 3 no host.",
        "",
        *table("Command", "Options", "What it does"),
    ]
    lines += [
        row(f"`standfast {name}`", options, summary) for name, options, summary in command_lines(build_parser(), "")
    ]
    return page("Command line", "the command table", lines)


def command_lines(parser: argparse.ArgumentParser, prefix: str) -> Iterator[tuple[str, str, str]]:
    """Every command below a parser: its words, its options, what it does."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, child in action.choices.items():
                yield f"{prefix}{name}", _options(child), child.description or ""
                yield from command_lines(child, f"{prefix}{name} ")


def _options(parser: argparse.ArgumentParser) -> str:
    common = {"--json", "--debug", "--home", "-h"}
    found = []
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction) or common & set(action.option_strings):
            continue
        name = action.option_strings[0] if action.option_strings else action.dest.upper()
        value = "" if action.nargs == 0 or not action.option_strings else f" {action.dest.upper()}"
        choices = f" ({', '.join(action.choices)})" if action.choices else ""
        found.append(f"`{name}{value}`{choices}")
    return ", ".join(found)


def api() -> str:
    """The OpenAPI document."""
    return json.dumps(openapi(CATALOGUE), indent=1, sort_keys=True) + "\n"
