"""What every store promises, from one text."""

from __future__ import annotations

import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

from standfast.domain.change import Event, Put
from standfast.domain.session import Project
from standfast.host.audit import verify
from standfast.store.batch import BATCH_LIMIT
from standfast.store.sqlite import SqliteTx, connect
from standfast.store.sqlite_open import open_sqlite
from standfast.store.tx import Receipt, Stamp, Store, Tx

STAMP = Stamp(actor="operator", at=5, boot="b")


def project(name: str, sequence: int = 0) -> Project:
    """A row of the simplest table."""
    return Project(id=f"prj_{name}", identity=f"path:/{name}", plan_seq=sequence, created_at=1)


def adding(name: str, sequence: int = 0) -> Callable[[Tx], int]:
    """A work that saves one project with its event."""
    row = project(name, sequence)
    return lambda tx: tx.append(
        [Event("project.created", f"project:{row.id}", None, {"n": 1}, (Put(None, row),))], STAMP
    )


def names(store: Store) -> list[str]:
    """The projects that are stored."""
    return sorted(row.id for row in store.read(lambda tx: tx.find(Project, "all_projects")))


def held(store: Store) -> tuple[threading.Event, Future[None]]:
    """Keeps the writer busy, so that what follows shares a batch; set the event to let it go on."""
    gate, inside = threading.Event(), threading.Event()

    def wait(tx: Tx) -> None:
        inside.set()
        assert gate.wait(10)

    future = store.write(wait)
    assert inside.wait(10)
    return gate, future


def test_what_was_answered_is_there_after_opening_again(opened: Callable[[], Store]) -> None:
    first = opened()
    first.write(adding("a")).result(10)
    first.close()
    assert names(opened()) == ["prj_a"]


def test_works_that_wait_share_one_commit(store: Store) -> None:
    gate, busy = held(store)
    before = store.commits  # type: ignore[attr-defined]
    futures = [store.write(adding(f"p{n}")) for n in range(BATCH_LIMIT)]
    gate.set()
    assert [future.result(10) for future in futures] == list(range(1, BATCH_LIMIT + 1))
    busy.result(10)
    assert store.commits - before == 2  # type: ignore[attr-defined]


@pytest.mark.requirement("STORE-03")
def test_a_work_that_raises_leaves_the_others_of_its_batch_alone(store: Store) -> None:
    def spoilt(tx: Tx) -> None:
        adding("spoilt")(tx)
        raise LookupError("mine")

    gate, _ = held(store)
    futures: list[Future[Any]] = [store.write(adding("a")), store.write(spoilt), store.write(adding("b"))]
    gate.set()
    futures[0].result(10)
    futures[2].result(10)
    with pytest.raises(LookupError, match="mine"):
        futures[1].result(10)
    assert names(store) == ["prj_a", "prj_b"]
    assert store.failure is None


@pytest.mark.requirement("STORE-03")
def test_a_constraint_costs_only_the_work_that_broke_it(store: Store) -> None:
    gate, _ = held(store)
    futures = [store.write(adding("a")), store.write(adding("a")), store.write(adding("b"))]
    gate.set()
    futures[0].result(10)
    futures[2].result(10)
    with pytest.raises(Exception, match=r"(?i)unique"):
        futures[1].result(10)
    assert names(store) == ["prj_a", "prj_b"]


@pytest.mark.requirement("STORE-03")
def test_a_work_out_of_memory_costs_only_itself(store: Store) -> None:
    def greedy(tx: Tx) -> None:
        adding("greedy")(tx)
        raise MemoryError

    gate, _ = held(store)
    kept, lost = store.write(adding("a")), store.write(greedy)
    gate.set()
    kept.result(10)
    with pytest.raises(MemoryError):
        lost.result(10)
    assert names(store) == ["prj_a"]


def test_a_call_that_was_given_up_before_it_ran_does_not_stop_the_writer(store: Store) -> None:
    gate, _ = held(store)
    given_up = store.write(adding("a"))
    assert given_up.cancel()
    after = store.write(adding("b"))
    gate.set()
    after.result(10)
    assert names(store) == ["prj_b"]


def test_after_closing_nothing_is_taken_and_what_was_queued_is_done(opened: Callable[[], Store]) -> None:
    store = opened()
    gate, _ = held(store)
    queued = store.write(adding("a"))
    threading.Timer(0.05, gate.set).start()
    store.close()
    queued.result(10)
    with pytest.raises(Exception, match="going down"):
        store.write(adding("b")).result(10)


def test_a_reader_sees_one_snapshot_while_others_write(store: Store) -> None:
    def twice(tx: Tx) -> tuple[int, int]:
        before = len(tx.find(Project, "all_projects"))
        store.write(adding("a")).result(10)
        return before, len(tx.find(Project, "all_projects"))

    assert store.read(twice) == (0, 0)
    assert names(store) == ["prj_a"]


def test_a_reader_cannot_write(store: Store) -> None:
    with pytest.raises(Exception, match=r"(?i)read"):
        store.read(adding("a"))
    assert names(store) == []


def test_texts_come_back_as_they_were_and_sort_by_their_bytes(store: Store) -> None:
    given = ["z", "A", "a", "ä", "漢字", "😀", "%s ? :name ::x", "'quoted'"]
    for n, text in enumerate(given):
        store.write(adding(text, n)).result(10)
    found = store.read(lambda tx: tx.find(Project, "all_projects"))
    assert {row.identity for row in found} == {f"path:/{text}" for text in given}
    store.write(lambda tx: tx.execute("meta_insert", key="k", value="50 % of ? and :x")).result(10)
    assert store.read(lambda tx: tx.texts("meta_value", key="k")) == ["50 % of ? and :x"]


def test_a_receipt_comes_back_and_a_second_of_its_key_is_refused(store: Store) -> None:
    receipt = Receipt("operator", "plan.submit", "k", "r1", "d", '{"ok":true}', True, 7)
    store.write(lambda tx: tx.save_receipt(receipt)).result(10)
    assert store.read(lambda tx: tx.receipt("operator", "plan.submit", "k")) == receipt
    with pytest.raises(Exception, match=r"(?i)unique"):
        store.write(lambda tx: tx.save_receipt(receipt)).result(10)


def test_the_clock_is_in_milliseconds(store: Store) -> None:
    assert store.read(lambda tx: tx.now()) == 1_000 or abs(store.read(lambda tx: tx.now()) - 1_790_000_000_000) < 10**12


def test_a_backup_holds_every_row_and_its_chains_are_whole(store: Store, tmp_path: Path) -> None:
    for n in range(5):
        store.write(adding(f"p{n}")).result(10)
    copy = tmp_path / "copy.db"
    store.backup(str(copy))
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    connection = connect(copy, readonly=True)
    try:
        tx = SqliteTx(connection, lambda: 0)
        assert sorted(row.id for row in tx.find(Project, "all_projects")) == [f"prj_p{n}" for n in range(5)]
        assert verify(tx) == store.read(verify)
    finally:
        connection.close()


def test_a_backup_never_overwrites(store: Store, tmp_path: Path) -> None:
    target = tmp_path / "copy.db"
    target.write_text("mine")
    with pytest.raises(FileExistsError):
        store.backup(str(target))
    assert target.read_text() == "mine"


def test_a_backup_can_be_opened_as_the_embedded_database(store: Store, tmp_path: Path) -> None:
    store.write(adding("a")).result(10)
    store.backup(str(tmp_path / "copy.db"))
    again = open_sqlite(tmp_path / "copy.db", lambda: 1)
    try:
        assert names(again) == ["prj_a"]
        assert again.write(adding("b")).result(10) == 2
    finally:
        again.close()


def test_the_embedded_store_does_without_the_other_driver() -> None:
    code = "import standfast.store.sqlite_open, sys; sys.exit('psycopg' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
