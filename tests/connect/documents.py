"""Generated configurations (synthetic): JSON with comments, TOML and YAML in the styles that people have."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from standfast.cli.connect.document import Entry

NAMES = st.sampled_from(["a", "theme", "käse", "x y", "0", "mcp"])
EVENTS = ("SessionStart", "PreToolUse", "pre_llm_call")
LONG = {"command": "sh -c 'standfast hook x || { [ -z \"$d\" ] || exit 2; }'", "timeout": 15}
HOOK = {"hooks": [{"type": "command", **LONG}]}
SERVER = {"command": "standfast", "args": ["mcp", "--home", "/a b/ü"], "alwaysLoad": True}
LISTED = tuple(Entry(("hooks", event), HOOK, "standfast hook x") for event in EVENTS)
JSON_ENTRIES = (Entry(("mcpServers", "standfast"), SERVER), *LISTED)
YAML_ENTRIES = (Entry(("mcp_servers", "standfast"), SERVER), *LISTED)
TOML_ENTRIES = (
    Entry(("mcp_servers", "standfast"), SERVER),
    Entry(("hooks", "state", "/a b/hooks.json:stop:0:0"), {"trusted_hash": "sha256:00"}),
)

SCALARS = st.sampled_from(["1", "-0.5e3", "true", "null", '""', '"a // b"', '"/* c"', '"\\" ,}"', '"é\\u0000"'])
GAPS = st.sampled_from(
    ["", "", " ", "  ", "\n", "\n    ", "\t", "\n\n", " /* } */ ", ' // ,]"\n', "/*\n*/", "\n  // x\n  "]
)


@st.composite
def json_container(draw: Any, brackets: str, items: list[str]) -> str:
    """An object or a list of these items, with any white space, comments, and perhaps a trailing comma."""
    parts = [brackets[0], draw(GAPS)]
    for place, item in enumerate(items):
        parts += [item, draw(GAPS)]
        if place < len(items) - 1 or draw(st.booleans()):
            parts += [",", draw(GAPS)]
    return "".join([*parts, brackets[1]])


@st.composite
def json_value(draw: Any, depth: int = 2) -> str:
    """Any value."""
    kind = draw(st.integers(0, 2 if depth else 0))
    if kind == 0:
        return str(draw(SCALARS))
    values = draw(st.lists(json_value(depth - 1), max_size=3))
    if kind == 1:
        return str(draw(json_container("[]", values)))
    return str(draw(json_object({f"k{n}": value for n, value in enumerate(values)})))


@st.composite
def json_object(draw: Any, members: dict[str, str]) -> str:
    """An object of these members."""
    items = [f'"{key}"{draw(GAPS)}:{draw(GAPS)}{value}' for key, value in members.items()]
    return str(draw(json_container("{}", items)))


@st.composite
def json_documents(draw: Any) -> str:
    """A client's settings, with or without the containers that ours go to."""
    members = {name: draw(json_value()) for name in draw(st.lists(NAMES, unique=True, max_size=3))}
    if draw(st.booleans()):
        names = draw(st.lists(NAMES, unique=True, max_size=2))
        members["mcpServers"] = draw(json_object({name: draw(json_value()) for name in names}))
    if draw(st.booleans()):
        events = draw(st.lists(st.sampled_from(EVENTS), unique=True, max_size=2))
        lists = {event: draw(json_container("[]", draw(st.lists(json_value(), max_size=2)))) for event in events}
        members["hooks"] = draw(json_object(lists))
    order = draw(st.permutations(list(members)))
    body = draw(json_object({name: members[name] for name in order}))
    return draw(st.sampled_from(["", "\ufeff"])) + _breaks(draw, draw(GAPS) + body + draw(GAPS))


TOML_LINES = st.sampled_from(
    [
        "{} = 1",
        '{} = "[mcp_servers.standfast]" # [x]',
        "{} = [\n  [1], # ]\n  [2, 3]\n]",
        "{} = '''\n[mcp_servers.standfast]\n'''",
        '{} = """\\"""" # """',
        "{} = {{ a = 1, b = [ 'x' ] }}",
        "{}.b.c = true",
        "  {} = 1979-05-27",
        "# a comment [x]",
        "",
        "   ",
    ]
)
TOML_HEADERS = [
    "[tools]",
    "[mcp_servers]",
    "[mcp_servers.other] # x",
    "[hooks]",
    "[hooks.state.'q']",
    "[[list]]",
    "[a-b]",
]


@st.composite
def toml_documents(draw: Any) -> str:
    """A configuration of several tables."""
    headers = ["", *draw(st.lists(st.sampled_from(TOML_HEADERS), unique=True, max_size=4))]
    lines: list[str] = []
    for header in headers:
        lines += [header] if header else []
        lines += [line.format(f"k{len(lines)}{n}") for n, line in enumerate(draw(st.lists(TOML_LINES, max_size=3)))]
    return draw(st.sampled_from(["", "\ufeff"])) + _breaks(draw, "\n".join(lines) + draw(st.sampled_from(["", "\n"])))


YAML_SCALARS = ["1", "'a: b'", '"x\\n"', "plain # no", "[1, {a: 2}]", "{a: [b], c: }", "", "~", "|\n@x\n@ y", ">-\n@x"]


@st.composite
def yaml_block(draw: Any, column: int, depth: int) -> list[str]:
    """The lines of a mapping or a list at a column."""
    step = draw(st.integers(1, 4))
    listed = draw(st.booleans())
    lines: list[str] = []
    for n in range(draw(st.integers(1, 3))):
        head = " " * column + ("-" if listed else f"k{n}:")
        if depth and draw(st.booleans()):
            lines += [f"{head}{draw(st.sampled_from(['', ' # c']))}", *draw(yaml_block(column + step, depth - 1))]
        else:
            value = draw(st.sampled_from(YAML_SCALARS)).replace("@", " " * (column + step))
            lines += f"{head} {value}".split("\n")
        lines += draw(st.sampled_from([[], [], [""], [" " * column + "# c"], ["# c"]]))
    return lines


@st.composite
def yaml_documents(draw: Any) -> str:
    """A configuration in block style, with or without the containers that ours go to."""
    column = draw(st.sampled_from([0, 0, 2]))
    step = draw(st.integers(1, 4))
    margin, inner = " " * column, " " * (column + step)
    groups: list[list[str]] = [
        [f"{margin}top{n}:", *draw(yaml_block(column + step, 2))] for n in range(draw(st.integers(0, 2)))
    ]
    servers = draw(
        st.sampled_from([None, "", " {}", " {x: {command: y}}", f"\n{inner}# c\n{inner}x:\n{inner} command: y"])
    )
    if servers is not None:
        groups.append(f"{margin}mcp_servers:{servers}".split("\n"))
    item = f"\n{inner}pre_llm_call: # c\n{inner}- command: x\n{inner}  timeout: 3 # d"
    hooks = draw(st.sampled_from([None, "", " {}", " {pre_llm_call: [{command: x}]}", f"\n{inner}pre_llm_call:", item]))
    if hooks is not None:
        groups.append(f"{margin}hooks:{hooks}".split("\n"))
    lines = [line for group in draw(st.permutations(groups)) for line in group]
    lines = draw(st.sampled_from([[], ["# first", ""], ["---"]])) + lines
    # A text that ends inside a block scalar cannot be added to without changing that scalar.
    lines += ["# last"] if any(mark in line for line in lines[-3:] for mark in ("|", ">-")) else []
    return draw(st.sampled_from(["", "\ufeff"])) + _breaks(
        draw, "\n".join(lines) + draw(st.sampled_from(["", "\n", "\n\n"]))
    )


def _breaks(draw: Any, text: str) -> str:
    """The same with the line breaks of another system, perhaps."""
    return text.replace("\n", "\r\n") if draw(st.booleans()) else text
