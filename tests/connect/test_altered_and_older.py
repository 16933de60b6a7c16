"""What a person altered is theirs; what an earlier version wrote is renewed; a lost record costs little."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest

from standfast.cli.connect import files, plan
from standfast.cli.connect.apply import carried_out
from standfast.cli.connect.document import Entry
from standfast.cli.connect.json_spans import STRICT
from standfast.cli.connect.plan import joined, parted
from standfast.cli.connect.record import NAME, Record
from standfast.cli.connect.table import Part, Settings, WholeFile
from tests.connect.people import Somebody

pytestmark = pytest.mark.requirement("CONNECT-05")
OLD = Entry(("mcpServers", "standfast"), {"command": "standfast"})
NEW = Entry(("mcpServers", "standfast"), {"command": "standfast", "args": ["mcp"]})
STOP = Entry(("hooks", "Stop"), {"command": "standfast hook x"}, "standfast hook x")


class Bench:
    """One file and a home's record."""

    def __init__(self, tmp_path: Path) -> None:
        self.path, self.home = tmp_path / "settings.json", tmp_path / "home"

    def connect(self, *entries: Entry) -> list[str]:
        """Connects these entries; what was left alone."""
        return self._do(Settings(self.path, STRICT, entries), remove=False)

    def remove(self, *entries: Entry) -> list[str]:
        """Removes them; what was left alone."""
        return self._do(Settings(self.path, STRICT, entries), remove=True)

    def state(self, *entries: Entry) -> str:
        """How much of them is there."""
        found = files.find(self.path)
        return plan.state(Settings(self.path, STRICT, entries), found, Record(self.home).of(found.real))

    def _do(self, part: Part, *, remove: bool) -> list[str]:
        record = Record(self.home)
        with record.changing():
            left: list[str] = carried_out(part, record, None, parted if remove else joined)["altered"]
        return left


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """A file of somebody's, not connected."""
    bench = Bench(tmp_path)
    bench.path.write_text('{"mine": 1}')
    return bench


def test_an_older_form_is_renewed_in_one_step(bench: Bench) -> None:
    bench.connect(OLD)
    assert bench.state(NEW) == "older form"
    assert bench.connect(NEW) == []
    assert bench.state(NEW) == "connected"
    assert bench.remove(NEW) == []
    assert bench.path.read_text() == '{"mine": 1}'


def test_what_is_no_longer_wished_goes_with_the_next_connect(bench: Bench) -> None:
    bench.connect(OLD, STOP)
    assert bench.state(OLD) == "older form"
    bench.connect(OLD)
    assert set(json.loads(bench.path.read_text())) == {"mine", "mcpServers"}
    bench.remove(OLD)
    assert bench.path.read_text() == '{"mine": 1}'


def test_what_an_earlier_version_wrote_is_removed_by_a_later_one(bench: Bench) -> None:
    bench.connect(OLD, STOP)
    assert bench.remove(NEW) == []
    assert bench.path.read_text() == '{"mine": 1}'


def test_what_a_person_altered_is_left_and_named(bench: Bench) -> None:
    bench.connect(OLD, STOP)
    bench.path.write_text(bench.path.read_text().replace('"command": "standfast"', '"command": "/opt/standfast"'))
    altered = bench.path.read_text()
    assert bench.state(NEW, STOP) == "altered"
    assert bench.connect(NEW, STOP) == ["mcpServers.standfast"]
    assert bench.path.read_text() == altered
    assert bench.remove(NEW, STOP) == ["mcpServers.standfast"]
    assert json.loads(bench.path.read_text()) == {"mine": 1, "mcpServers": {"standfast": {"command": "/opt/standfast"}}}


def test_a_person_can_say_that_it_is_replaced_or_removed(somebody: Somebody) -> None:
    path = somebody.user / ".qwen" / "settings.json"
    path.parent.mkdir()
    path.write_text('{"mcpServers": {"standfast": {"command": "mine"}}}')
    assert "--replace" in somebody.done("connect qwen", status=1)
    assert '"mine"' in path.read_text()
    somebody.done("connect qwen --replace")
    assert '"mine"' not in path.read_text()
    tree = json.loads(path.read_text())
    tree["mcpServers"]["standfast"]["env"] = {"A": "b"}
    path.write_text(json.dumps(tree))
    assert "--replace" in somebody.done("connect qwen --remove", status=1)
    somebody.done("connect qwen --remove --replace")
    assert json.loads(path.read_text()) == {"mcpServers": {}}


def test_another_homes_connection_is_not_taken_over_silently(somebody: Somebody, tmp_path: Path) -> None:
    somebody.done("connect gemini")
    before = somebody.files()
    assert "--replace" in somebody.done(f"connect gemini --home {tmp_path}/other", status=1)
    assert somebody.files() == before


def test_what_a_client_reordered_and_a_person_added_stays(bench: Bench) -> None:
    bench.connect(OLD, STOP)
    tree = json.loads(bench.path.read_text())
    tree["mcpServers"]["theirs"] = {"command": "x"}
    bench.path.write_text(json.dumps(dict(reversed(tree.items())), indent=4))
    assert bench.state(OLD, STOP) == "connected"
    bench.remove(OLD, STOP)
    assert bench.path.read_text() == json.dumps({"mcpServers": {"theirs": {"command": "x"}}, "mine": 1}, indent=4)


def test_a_crash_between_the_record_and_the_file_costs_nothing(bench: Bench) -> None:
    before = bench.path.read_bytes()
    bench.connect(OLD, STOP)
    bench.path.write_bytes(before)  # as if the replacement had not happened
    assert bench.state(OLD, STOP) == "not connected"
    assert bench.connect(OLD, STOP) == []
    assert bench.remove(OLD, STOP) == []
    assert bench.path.read_bytes() == before
    assert list(bench.path.parent.glob("*.standfast-backup")) == []


@pytest.mark.parametrize("record", [None, "{", '{"files": {"x": {"new": 1}}}', "[]"])
def test_without_a_record_what_is_as_this_build_writes_it_is_still_ours(bench: Bench, record: str | None) -> None:
    bench.connect(OLD, STOP)
    (bench.home / NAME).unlink()
    if record is not None:
        (bench.home / NAME).write_text(record)
    assert bench.state(OLD, STOP) == "connected"
    assert bench.remove(OLD, STOP) == []
    assert json.loads(bench.path.read_text()) == {"mine": 1, "mcpServers": {}, "hooks": {"Stop": []}}


def test_a_whole_file_is_made_renewed_kept_when_altered_and_removed(tmp_path: Path) -> None:
    path = tmp_path / "extensions" / "standfast.ts"
    record = Record(tmp_path / "home")

    def done(data: bytes, *, remove: bool = False, force: bool = False) -> list[str]:
        with record.changing():
            decide = partial(parted if remove else joined, force=force)
            left: list[str] = carried_out(WholeFile(path, data), record, None, decide)["altered"]
        return left

    assert done(b"one") == []
    assert done(b"two") == []
    assert path.read_bytes() == b"two"
    assert [each.name for each in path.parent.iterdir()] == ["standfast.ts"]
    path.write_bytes(b"mine")
    assert done(b"three") == done(b"three", remove=True) == ["standfast.ts"]
    assert path.read_bytes() == b"mine"
    assert done(b"three", force=True) == []
    assert path.read_bytes() == b"three"
    [copy] = path.parent.glob("*.standfast-backup")
    assert copy.read_bytes() == b"mine"
    copy.unlink()
    assert done(b"three", remove=True) == []
    assert not path.parent.exists()
