"""One batch as the host's writer makes it, with the errors it meets; run as a script by a test.

Arguments: database, switch file (made when the batch begins, so that a fault can start there, and removed
after it), cache size in pages, then what to do at the end: `die` (leave without closing, which is what
SIGKILL leaves behind), `close`, or `go on` (commit another row first, then die). Prints one JSON object.
"""

import json
import os
import sqlite3
import sys

OPERATIONS, ROWS = 4, 100

database, switch, cache, end = sys.argv[1:]
connection = sqlite3.connect(database, isolation_level=None)
for pragma in ("journal_mode=wal", "synchronous=full", f"cache_size={cache}", "wal_autocheckpoint=0"):
    connection.execute(f"pragma {pragma}")
connection.execute("create table row (id integer primary key, kind text, body text) strict")
connection.execute("insert into row (kind, body) values ('before', '')")
errors: list[tuple[str, str, bool]] = []


def attempt(what: str, statement: str) -> bool:
    """Whether the statement ran; an error is noted with its name and whether the transaction exists."""
    try:
        connection.execute(statement)
    except sqlite3.Error as error:
        errors.append((what, error.sqlite_errorname, connection.in_transaction))
        return False
    return True


def operation() -> bool:
    """One operation of the batch; after an error it tries what a careless writer would do: go back."""
    attempt("savepoint", "savepoint operation")
    insert = "insert into row (kind, body) values ('batch', hex(zeroblob(150)))"
    done = all(attempt("insert", insert) for _ in range(ROWS))
    if not done:
        attempt("rollback to", "rollback to operation")
        return False
    return attempt("release", "release operation")


open(switch, "w").close()
connection.execute("begin immediate")
committed = all(operation() for _ in range(OPERATIONS)) and attempt("commit", "commit")
os.unlink(switch)
seen = connection.execute("select count(*) from row where kind = 'batch'").fetchone()[0]
if end == "go on":
    attempt("next", "insert into row (kind, body) values ('next', '')")
print(json.dumps({"committed": committed, "errors": errors, "seen": seen}), flush=True)
if end != "close":
    os._exit(0)
connection.close()
