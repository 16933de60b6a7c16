"""A small writer for tests: commits five rows, one at a time, and prints each after its commit.

Argument: the database's path. Run as a script, by a process of its own.
"""

import sqlite3
import sys

connection = sqlite3.connect(sys.argv[1], isolation_level=None)
for statement in ("pragma journal_mode=wal", "pragma synchronous=full", "pragma wal_autocheckpoint=2"):
    connection.execute(statement)
connection.execute("create table if not exists row (id integer primary key, body text) strict")
for number in range(1, 6):
    connection.execute("begin immediate")
    connection.execute("insert into row values (?, ?)", (number, "x" * 300))
    connection.execute("commit")
    print(number, flush=True)
connection.close()
