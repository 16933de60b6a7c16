"""A client's file in every condition: what is connected keeps it, and what cannot be connected is left alone."""

from __future__ import annotations

import json
import os
import stat
from functools import partial
from pathlib import Path

import pytest

from standfast.cli.connect import files
from standfast.cli.connect.apply import carried_out
from standfast.cli.connect.document import Entry
from standfast.cli.connect.json_spans import STRICT
from standfast.cli.connect.plan import Change, joined
from standfast.cli.connect.record import Record, Written
from standfast.cli.connect.table import Part, Settings
from standfast.client.call import Refused
from tests.connect.people import Somebody

pytestmark = pytest.mark.requirement("CONNECT-04", "HOOK-03")
MINE = b'{\n  "theme": "dark"\n}\n'


@pytest.fixture
def settings(somebody: Somebody) -> Path:
    """Gemini's settings, with something in them."""
    path = somebody.user / ".gemini" / "settings.json"
    path.parent.mkdir()
    path.write_bytes(MINE)
    return path


def connected(path: Path) -> bool:
    """Whether our server is in a JSON file."""
    return "standfast" in json.loads(path.read_text("utf-8-sig")).get("mcpServers", {})


def copies(path: Path) -> list[Path]:
    """The backups beside a file."""
    return sorted(path.parent.glob(f"{path.name}.*.standfast-backup"))


def refused(somebody: Somebody, *said: str, line: str = "connect gemini") -> None:
    """Connecting is refused with these words, and nothing is written or left."""
    before = somebody.files()
    text = somebody.done(line, status=1)
    assert all(word in text for word in said), text
    assert somebody.files() == before


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n",
        b"{}",
        b"{ }\n",
        b'{"theme":"dark"}',
        b'{\n\t"theme": "dark"\n}',
        b'{\r\n    "theme": "dark",\r\n    "mcpServers": {}\r\n}\r\n',
        b'\xef\xbb\xbf{\n  "theme": "dark"\n}\n',
        b'{\n  // mine\n  "theme": "dark" /* why */\n}\n',
        b'{"hooks": {"SessionStart": [{"hooks": []}]}, "mcpServers": {"other": {"command": "x"}}}\n',
    ],
    ids=["empty", "line", "object", "spaced", "one line", "tabs", "crlf", "bom", "comments", "others"],
)
def test_a_file_of_any_style_is_byte_for_byte_what_it_was(somebody: Somebody, settings: Path, content: bytes) -> None:
    settings.write_bytes(content)
    before = somebody.files()
    somebody.done("connect gemini")
    data = settings.read_bytes()
    assert b"standfast" in data
    assert (b"\r\n" in data) == (b"\r\n" in content)
    assert data.startswith(b"\xef\xbb\xbf") == content.startswith(b"\xef\xbb\xbf")
    somebody.done("connect gemini --remove")
    assert somebody.files() == before


def test_the_backup_holds_what_was_there_for_the_same_eyes_once_per_change(somebody: Somebody, settings: Path) -> None:
    settings.chmod(0o600)
    somebody.done("connect gemini")
    [copy] = copies(settings)
    assert (copy.read_bytes(), stat.S_IMODE(copy.stat().st_mode)) == (MINE, 0o600)
    assert stat.S_IMODE(settings.stat().st_mode) == 0o600
    somebody.done("connect gemini")
    assert copies(settings) == [copy]
    settings.write_text(settings.read_text().replace("dark", "light"))
    somebody.done("connect gemini --remove")
    assert settings.read_bytes() == MINE.replace(b"dark", b"light")
    assert {copy.read_bytes() for copy in copies(settings)} > {MINE}


def test_a_link_stays_and_its_target_is_written(somebody: Somebody, settings: Path, tmp_path: Path) -> None:
    target = tmp_path / "dotfiles" / "gemini.json"
    target.parent.mkdir()
    settings.rename(target)
    settings.symlink_to(target)
    somebody.done("connect gemini")
    assert settings.is_symlink()
    assert connected(target)
    assert copies(target)
    assert copies(settings) == []
    somebody.done("connect gemini --remove")
    assert settings.is_symlink()
    assert (target.read_bytes(), copies(target)) == (MINE, [])


def test_a_link_to_nothing_is_refused(somebody: Somebody, settings: Path) -> None:
    settings.unlink()
    settings.symlink_to("nowhere.json")
    refused(somebody, "link to", "not there")
    assert settings.is_symlink()


def test_a_projects_link_that_leaves_the_project_is_refused(somebody: Somebody, settings: Path) -> None:
    (somebody.project / ".gemini").symlink_to(settings.parent)
    refused(somebody, "leaves the project", line="connect gemini --project")
    assert settings.read_bytes() == MINE


def test_a_read_only_file_is_refused_even_for_root(somebody: Somebody, settings: Path) -> None:
    settings.chmod(0o444)
    refused(somebody, str(settings), "read-only")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'{\n  "theme": dark\n}\n', "line 2, column 12"),
        (b'{\n  "theme": "dark",\n}\n', "line 3, column 1"),
        (b"[]", "line 1, column 1"),
        (b'{"mcpServers": null}', "line 1, column 16"),
        (b'{"mcpServers": []}', "mcpServers is not an object"),
        (b'{"mcpServers": {}, "mcpServers": {}}', "line 1, column 20"),
        (b'{\n"theme": "\xff"}', "line 2"),
        (b'{"a":\r1}', "line 1, column 6"),
        (b'{"a":' + b"[" * 100_000, "nested too deeply"),
    ],
    ids=["word", "comma", "list", "null", "servers", "twice", "bytes", "return", "deep"],
)
def test_an_invalid_file_is_refused_with_its_position(
    somebody: Somebody, settings: Path, content: bytes, said: str
) -> None:
    settings.write_bytes(content)
    refused(somebody, str(settings), said)


def test_an_invalid_toml_or_yaml_is_refused_with_its_position(somebody: Somebody) -> None:
    for client, path, content in (("codex", "config.toml", "a = 1\nb = \n"), ("hermes", "config.yaml", "a: 1\nb: {\n")):
        folder = somebody.user / f".{client}"
        folder.mkdir()
        (folder / path).write_text(content)
        refused(somebody, str(folder / path), "line ", "column ", line=f"connect {client}")


@pytest.mark.parametrize(
    ("client", "path", "content"),
    [
        ("codex", ".codex/config.toml", "mcp_servers = { other = { command = 'x' } }\n"),
        ("hermes", ".hermes/config.yaml", "a: &a {x: {}}\nmcp_servers: *a\n"),
        ("hermes", ".hermes/config.yaml", "a: 1\n---\nb: 2\n"),
    ],
    ids=["inline", "alias", "documents"],
)
def test_what_cannot_be_edited_without_disturbing_it_is_refused(
    somebody: Somebody, client: str, path: str, content: str
) -> None:
    (somebody.user / path).parent.mkdir()
    (somebody.user / path).write_text(content)
    refused(somebody, path, line=f"connect {client}")


def test_where_one_of_two_files_is_invalid_neither_is_written(somebody: Somebody) -> None:
    (somebody.user / ".claude").mkdir()
    (somebody.user / ".claude" / "settings.json").write_text("{")
    refused(somebody, "settings.json", line="connect claude")


def test_a_file_that_is_too_large_or_no_file_is_refused(somebody: Somebody, settings: Path) -> None:
    with settings.open("r+b") as stream:
        stream.truncate(files.LIMIT + 1)
    refused(somebody, "larger than")
    settings.unlink()
    settings.mkdir()
    refused(somebody, "not a regular file")


class Hasty:
    """A client that writes its settings between our reading and our replacement, a number of times."""

    def __init__(self, path: Path, times: int) -> None:
        self._path, self._times = path, times

    def decide(self, part: Part, found: files.Found, written: Written) -> Change:
        """Decides as always, and then writes."""
        change = joined(part, found, written)
        if self._times:
            self._times -= 1
            self._path.write_text(json.dumps({"count": self._times}))
        return change


def test_what_a_client_wrote_meanwhile_is_kept_and_connected(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_bytes(MINE)
    part = Settings(path, STRICT, (Entry(("mcpServers", "standfast"), {"command": "x"}),))
    record = Record(tmp_path / "home")
    with record.changing():
        carried_out(part, record, None, Hasty(path, times=2).decide)
    assert json.loads(path.read_text()) == {"count": 0, "mcpServers": {"standfast": {"command": "x"}}}
    assert [copy.read_text() for copy in copies(path)] == ['{"count": 0}']


def test_a_client_that_writes_all_the_time_is_told_of_and_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_bytes(MINE)
    part = Settings(path, STRICT, (Entry(("mcpServers", "standfast"), {"command": "x"}),))
    record = Record(tmp_path / "home")
    with record.changing(), pytest.raises(Refused, match="another program is writing it"):
        carried_out(part, record, None, Hasty(path, times=100).decide)
    assert "count" in json.loads(path.read_text())
    assert sorted(each.name for each in tmp_path.iterdir()) == ["home", "settings.json"]


def test_a_folder_that_cannot_be_written_is_refused_without_a_trace(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    part = Settings(tmp_path / "file" / "settings.json", STRICT, (Entry(("a", "b"), 1),))
    record = Record(tmp_path / "home")
    with record.changing(), pytest.raises(Refused, match=r"settings\.json: it cannot be read"):
        carried_out(part, record, None, partial(joined, force=False))
    assert (tmp_path / "file").read_text() == "no folder"


def test_a_difference_shows_what_cannot_be_seen(somebody: Somebody, settings: Path) -> None:
    settings.write_text('{\n  "theme": "\u202edark"\n}')
    shown = somebody.done("connect gemini --dry-run")
    assert "\\u202e" in shown
    assert "\u202e" not in shown
    assert f"--- {settings}" in shown
    assert os.listdir(settings.parent) == ["settings.json"]
