"""Nothing that stands in a file makes a reader raise, hang or grow: real forms, spoilt at random, and noise."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from standfast import transcripts
from standfast.transcripts import events
from tests.transcripts.test_damage import FILES
from tests.transcripts.written import ClaudeSession, save
from tests.transcripts.written_others import ChatSession, GeminiChat, OpenCodeSession, lines

pytestmark = pytest.mark.requirement("RESTORE-06")

SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5), st.sampled_from(["user", "1", "todos"])
)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)),
)
PIECES = st.one_of(st.binary(max_size=6), st.sampled_from([b"\n", b'"', b"}", b"{", b"\\", b"\0", b"[]"]))


def documents() -> dict[str, bytes]:
    """One session of each client, also of those whose sessions are documents."""
    gemini, opencode, hermes = GeminiChat(), OpenCodeSession(), ChatSession()
    for session in (gemini, opencode, hermes):
        session.prompt()
    gemini.write_todos([("One", "pending")])
    opencode.write_todos([("One", "pending")])
    hermes.todo([("One", "pending")])
    vibe = {"metadata": {"session_id": "v"}, "messages": hermes.messages}
    return {
        "gemini document": gemini.document(),
        "opencode": opencode.data(),
        "hermes": lines([hermes.hermes()]),
        "vibe": json.dumps(vibe, indent=1).encode(),
        "vibe lines": lines(hermes.messages),
    }


EVERY = FILES | documents()


def read_in_every_way(data: bytes) -> transcripts.Report:
    """Reads a file in both directions and restores it; nothing may be raised, and each event is of a known type."""
    with tempfile.TemporaryDirectory() as folder:
        path = save(Path(folder), data)
        opened = transcripts.open(path)
        for event in (*opened.events(), *opened.backwards()):
            assert isinstance(event, events.Event)
        report = transcripts.restore(path)
    report.words()
    json.dumps(report.data())
    return report


@given(data=st.data(), name=st.sampled_from(sorted(EVERY)))
def test_bytes_that_are_changed_cut_or_put_in_raise_nothing(data: st.DataObject, name: str) -> None:
    whole = bytearray(EVERY[name])
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(0, max(len(whole) - 1, 0)))
        whole[at : at + data.draw(st.integers(0, 40))] = data.draw(PIECES)
    read_in_every_way(bytes(whole))


@given(data=st.data(), name=st.sampled_from(sorted(FILES)))
def test_values_of_another_type_raise_nothing(data: st.DataObject, name: str) -> None:
    records = [json.loads(line) for line in FILES[name].splitlines()]
    for _ in range(data.draw(st.integers(1, 4))):
        holder = data.draw(st.sampled_from(records))
        while isinstance(holder, dict | list) and holder:
            keys = sorted(holder) if isinstance(holder, dict) else range(len(holder))
            key = data.draw(st.sampled_from(list(keys)))
            if not isinstance(holder[key], dict | list) or not holder[key] or data.draw(st.booleans()):
                holder[key] = data.draw(JSON)
                break
            holder = holder[key]
    read_in_every_way("\n".join(json.dumps(each) for each in records).encode())


@given(order=st.data(), name=st.sampled_from(sorted(FILES)))
def test_lines_that_are_lost_doubled_or_out_of_order_raise_nothing(order: st.DataObject, name: str) -> None:
    whole = FILES[name].splitlines(keepends=True)
    picked = order.draw(st.lists(st.sampled_from(whole), max_size=12))
    other = order.draw(st.sampled_from(sorted(FILES)))
    read_in_every_way(b"".join(picked) + FILES[other])


@given(noise=st.binary(max_size=300))
def test_noise_raises_nothing(noise: bytes) -> None:
    read_in_every_way(noise)
    read_in_every_way(b'{"type":"session_meta","payload":{"id":"a"}}\n' + noise)


def test_a_tree_that_goes_in_a_circle_ends(tmp_path: Path) -> None:
    session = ClaudeSession()
    session.prompt()
    session.todo_write([("One", "pending")])
    first, last = session.records[0], session.records[-1]
    first["parentUuid"] = last["uuid"]
    last["logicalParentUuid"] = last["uuid"]
    report = read_in_every_way(session.data() * 3)
    assert report.main is not None


def test_a_hundred_thousand_calls_without_answers_are_read(tmp_path: Path) -> None:
    call = '{"type":"response_item","payload":{"type":"function_call","name":"x","arguments":"{}","call_id":"%d"}}\n'
    head = '{"type":"session_meta","payload":{"id":"a"}}\n'
    path = save(tmp_path, (head + "".join(call % n for n in range(100_000))).encode())
    found = [event for event in transcripts.open(path).events() if isinstance(event, events.ToolCall)]
    assert len(found) == 100_000
    assert {event.outcome for event in found} == {"unanswered"}


def test_a_hundred_thousand_answers_without_calls_are_read(tmp_path: Path) -> None:
    output = '{"type":"response_item","payload":{"type":"function_call_output","call_id":"%d","output":"o"}}\n'
    head = '{"type":"session_meta","payload":{"id":"a"}}\n'
    path = save(tmp_path, (head + "".join(output % n for n in range(100_000))).encode())
    for found in (transcripts.open(path).events(), transcripts.open(path).backwards()):
        assert sum(isinstance(event, events.OrphanResult) for event in found) == 100_000
