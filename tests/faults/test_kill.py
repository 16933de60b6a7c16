"""The harness itself: it dies at every point once, finds a writer that lies, and cannot pass idly."""

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.kill import Ended, at_call, at_point, kill_at_each

WRITER = str(Path(__file__).parent / "pointed_writer.py")


def check(ended: Ended) -> None:
    """Every acknowledged row is stored, and at most one row more."""
    acknowledged = [int(word) for word in ended.output.split()]
    with closing(sqlite3.connect(ended.home / "db")) as connection:
        made = connection.execute("select 1 from sqlite_master").fetchone()
        stored = [row for (row,) in connection.execute("select id from row order by id")] if made else []
    assert stored[: len(acknowledged)] == acknowledged
    assert len(stored) <= len(acknowledged) + 1


@pytest.mark.parametrize("kind", ["statement", "commit"])
def test_each_point_of_a_kind_kills_once_in_order(tmp_path: Path, kind: str) -> None:
    seen: list[tuple[int, bool, int]] = []

    def note(ended: Ended) -> None:
        check(ended)
        seen.append((ended.at, ended.killed, len(ended.output.split())))

    assert kill_at_each(at_point(kind), [WRITER, "careful"], tmp_path, note) == 8
    acknowledged = [0, 0, 1, 1, 2, 2, 3, 3]
    assert seen == [*((n, True, said) for n, said in enumerate(acknowledged, 1)), (9, False, 4)]


def test_a_step_visits_fewer_points(tmp_path: Path) -> None:
    assert kill_at_each(at_point("statement"), [WRITER, "careful"], tmp_path, check, step=3) == 3


def test_every_file_operation_of_a_child_can_kill_it(tmp_path: Path, shim: Path) -> None:
    assert kill_at_each(at_call(shim), [WRITER, "careful"], tmp_path, check) > 8


def test_a_writer_that_acknowledges_too_early_is_found(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=r"assert \[\] == \[1\]"):
        kill_at_each(at_point("commit"), [WRITER, "hasty"], tmp_path, check)
    assert [home.name for home in tmp_path.iterdir()] == ["1"]


def test_a_kind_that_is_never_reached_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="no point was reached"):
        kill_at_each(at_point("rename"), [WRITER, "careful"], tmp_path, check)


def test_a_child_that_never_ends_stops_at_the_bound(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="after 5 points"):
        kill_at_each(at_point("commit"), [WRITER, "endless"], tmp_path, lambda _: None, bound=5)


def test_a_child_that_fails_by_itself_is_an_error_with_its_words(tmp_path: Path) -> None:
    def unarmed(at: int, home: Path) -> Mapping[str, str]:
        return {}

    with pytest.raises(AssertionError, match="broken on purpose"):
        kill_at_each(unarmed, [WRITER, "failing"], tmp_path, check)
