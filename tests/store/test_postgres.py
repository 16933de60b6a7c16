"""What only a server can do to a store: go away, come back, belong to somebody else."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import psycopg
import pytest

from standfast.domain.errors import Refusal
from standfast.store import postgres_open, postgres_session
from standfast.store.migrate import Migration, SchemaRefused, migrations
from standfast.store.postgres import PostgresStore
from standfast.store.postgres_open import open_postgres
from standfast.store.tx import StorageFailed, StoreRefused, Tx
from tests.store.test_contract import adding, held, names

LATER = len(migrations()) + 1
"""The schema that comes next."""
OURS = "FROM pg_stat_activity WHERE application_name = 'standfast' AND datname = current_database()"
"""The product's connections to the test's own database; other tests use the same server."""


@pytest.fixture
def store(postgres_url: str) -> Iterator[PostgresStore]:
    """An open store on a database of its own."""
    store = open_postgres(postgres_url)
    yield store
    store.close()


@pytest.fixture
def person(postgres_url: str) -> Iterator[psycopg.Connection[Any]]:
    """Somebody else on the same database."""
    with closing(psycopg.connect(postgres_url, autocommit=True)) as connection:
        yield connection


def end_connections(person: psycopg.Connection[Any]) -> None:
    """Ends every connection of the product's to this database, as a restart of the server does."""
    person.execute(f"SELECT pg_terminate_backend(pid) {OURS}")


def test_a_lost_connection_is_made_again_and_nothing_is_asked_of_the_caller(
    store: PostgresStore, person: psycopg.Connection[Any]
) -> None:
    store.write(adding("a")).result(10)
    assert names(store) == ["prj_a"]
    end_connections(person)
    store.write(adding("b")).result(10)
    assert names(store) == ["prj_a", "prj_b"]
    assert store.failure is None


@pytest.mark.requirement("STORE-04")
def test_a_connection_lost_in_the_middle_of_a_batch_runs_the_batch_again_once(
    store: PostgresStore, person: psycopg.Connection[Any]
) -> None:
    runs = []

    def struck(tx: Tx) -> int:
        runs.append(1)
        if len(runs) == 1:
            end_connections(person)
        return adding("b")(tx)

    gate, _ = held(store)
    futures = [store.write(adding("a")), store.write(struck), store.write(adding("c"))]
    gate.set()
    assert len({future.result(10) for future in futures}) == 3
    assert len(runs) == 2
    assert names(store) == ["prj_a", "prj_b", "prj_c"]


@pytest.mark.requirement("STORE-04")
def test_a_connection_lost_during_the_commit_is_told_as_unknown_and_the_store_goes_on(
    store: PostgresStore, person: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = store._writer.commit

    def strike() -> None:
        monkeypatch.setattr(store._writer, "commit", commit)
        end_connections(person)
        commit()

    monkeypatch.setattr(store._writer, "commit", strike)
    with pytest.raises(Refusal, match="same idempotency key") as refusal:
        store.write(adding("a")).result(10)
    assert refusal.value.code == "unavailable"
    store.write(adding("b")).result(10)
    assert "prj_b" in names(store)


def test_a_second_host_is_refused_while_the_first_one_lives(
    store: PostgresStore, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_open, "LOCK_SECONDS", 0.2)
    with pytest.raises(StoreRefused, match="Another host uses"):
        open_postgres(postgres_url)
    store.close()
    open_postgres(postgres_url).close()


def test_a_host_waits_for_the_lock_of_one_that_was_just_killed(
    store: PostgresStore, postgres_url: str, person: psycopg.Connection[Any]
) -> None:
    pid = store._writer.connection.info.backend_pid
    threading.Timer(0.5, person.execute, ["SELECT pg_terminate_backend(%s)", (pid,)]).start()
    second = open_postgres(postgres_url)
    second.close()


def test_a_host_whose_database_was_taken_over_stops(
    store: PostgresStore, postgres_url: str, person: psycopg.Connection[Any]
) -> None:
    store.write(adding("a")).result(10)
    end_connections(person)
    second = open_postgres(postgres_url)
    try:
        with pytest.raises(StorageFailed, match="took the database"):
            store.write(adding("b")).result(10)
        second.write(adding("c")).result(10)
    finally:
        second.close()
    assert store.failure is not None
    with pytest.raises(StorageFailed):
        store.write(adding("d")).result(10)
    again = open_postgres(postgres_url)
    assert names(again) == ["prj_a", "prj_c"]
    again.close()


def test_a_host_that_was_away_while_another_came_and_went_stops_too(
    store: PostgresStore, postgres_url: str, person: psycopg.Connection[Any]
) -> None:
    end_connections(person)
    open_postgres(postgres_url).close()
    with pytest.raises(StorageFailed, match="took the database"):
        store.write(adding("b")).result(10)


def test_a_zombie_of_its_own_does_not_lock_a_host_out(
    store: PostgresStore, person: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    zombie = store._writer.connection
    stand_in = psycopg.connect(zombie.info.dsn, autocommit=True)
    stand_in.close()
    store._writer._tx.connection = stand_in
    store.write(adding("a")).result(10)
    assert names(store) == ["prj_a"]
    zombie.close()


@pytest.mark.requirement("STORE-06")
def test_a_writer_of_somebody_elses_costs_a_retry_and_not_a_write(
    store: PostgresStore, person: psycopg.Connection[Any]
) -> None:
    store.write(adding("a")).result(10)
    runs = []

    def colliding(tx: Tx) -> None:
        runs.append(1)
        (token,) = tx.texts("meta_value", key="host.owner")
        if len(runs) == 1:
            person.execute("UPDATE meta SET value = value WHERE key = 'host.owner'")
        postgres_session.own(store._writer.connection, token)

    store.write(colliding).result(10)
    assert len(runs) == 2


def test_a_server_that_stays_away_is_told_as_unavailable_without_the_password(
    store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("standfast.store.batch.PAUSES", (0.01,))
    monkeypatch.setattr(store._writer, "_url", "postgresql://me:hidden@127.0.0.1:1/x")
    store._writer.connection.close()
    with pytest.raises(Refusal, match="cannot be reached") as refusal:
        store.write(adding("a")).result(20)
    assert refusal.value.code == "unavailable"
    assert "hidden" not in str(refusal.value)
    assert store.failure is None


@pytest.mark.parametrize("url", ["postgresql://me:hidden@127.0.0.1:1/x", "nonsense hidden", "postgresql://[hidden"])
def test_a_url_that_leads_nowhere_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(StoreRefused, match="--database-url") as refusal:
        open_postgres(url)
    assert "hidden" not in str(refusal.value)


def test_a_database_of_somebody_elses_is_not_touched(postgres_url: str, person: psycopg.Connection[Any]) -> None:
    person.execute("CREATE TABLE theirs (id int)")
    with pytest.raises(SchemaRefused, match="Nothing was written"):
        open_postgres(postgres_url)
    person.execute("CREATE TABLE meta (whatever int)")
    with pytest.raises(SchemaRefused, match="Nothing was written"):
        open_postgres(postgres_url)
    assert person.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'").fetchone() == (2,)


def test_a_newer_schema_is_refused_before_any_write(postgres_url: str) -> None:
    open_postgres(postgres_url, steps=(*migrations(), Migration(LATER, "CREATE TABLE later (id INTEGER)"))).close()
    with pytest.raises(SchemaRefused, match=f"schema {LATER}"):
        open_postgres(postgres_url)


def test_an_older_schema_is_copied_aside_and_brought_up_to_date(
    postgres_url: str, person: psycopg.Connection[Any]
) -> None:
    store = open_postgres(postgres_url)
    store.write(adding("a")).result(10)
    store.close()
    steps = (*migrations(), Migration(LATER, "CREATE TABLE later (id TEXT PRIMARY KEY)"))
    newer = open_postgres(postgres_url, steps=steps)
    assert names(newer) == ["prj_a"]
    newer.close()
    assert person.execute(f"SELECT id FROM public_schema{LATER - 1}_backup.projects").fetchall() == [("prj_a",)]


def test_a_migration_that_fails_leaves_the_database_as_it_was(
    postgres_url: str, person: psycopg.Connection[Any]
) -> None:
    open_postgres(postgres_url).close()
    broken = (*migrations(), Migration(LATER, "CREATE TABLE later (id TEXT); CREATE TABLE later (id TEXT)"))
    with pytest.raises(StoreRefused, match="later"):
        open_postgres(postgres_url, steps=broken)
    assert person.execute(
        f"SELECT to_regclass('later'), to_regnamespace('public_schema{LATER - 1}_backup')"
    ).fetchone() == (
        None,
        None,
    )
    open_postgres(postgres_url).close()


def test_hosts_with_schemas_of_their_own_share_a_database(postgres_url: str, person: psycopg.Connection[Any]) -> None:
    person.execute("CREATE SCHEMA one; CREATE SCHEMA two")
    joint = "&" if "?" in postgres_url else "?"
    stores = [open_postgres(f"{postgres_url}{joint}options=-csearch_path%3D{name}") for name in ("one", "two")]
    for n, store in enumerate(stores):
        store.write(adding(f"p{n}")).result(10)
    assert [names(store) for store in stores] == [["prj_p0"], ["prj_p1"]]
    for store in stores:
        store.close()


def test_many_readers_share_a_few_connections(store: PostgresStore, person: psycopg.Connection[Any]) -> None:
    store.write(adding("a")).result(10)

    def read_often() -> None:
        for _ in range(20):
            assert names(store) == ["prj_a"]

    threads = [threading.Thread(target=read_often) for _ in range(24)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    row = person.execute(f"SELECT count(*) {OURS}").fetchone()
    assert row is not None
    assert row[0] <= 9


def test_commits_are_durable_whatever_the_role_says(
    store: PostgresStore, postgres_url: str, person: psycopg.Connection[Any]
) -> None:
    person.execute("ALTER DATABASE " + str(person.info.dbname) + " SET synchronous_commit = off")
    connection = postgres_session.connect(postgres_url)
    assert connection.execute("SHOW synchronous_commit").fetchone() == ("on",)
    connection.close()
