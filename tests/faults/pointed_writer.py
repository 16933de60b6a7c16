"""A small writer with points of death, for the test of the harness; run as a script.

Arguments: `careful` (acknowledges after the commit), `hasty` (before it), `endless` (never ends) or
`failing` (ends with an error), and the home.
"""

import os
import sqlite3
import sys

from tests.support.kill import points

manner, home = sys.argv[1:]
point = points(os.environ)
connection = sqlite3.connect(os.path.join(home, "db"), isolation_level=None)
connection.execute("pragma journal_mode=wal")
connection.execute("create table if not exists row (id integer primary key)")
number = 0
while number < 4 or manner == "endless":
    number += 1
    connection.execute("begin immediate")
    point("statement")
    connection.execute("insert into row values (?)", (number,))
    point("statement")
    if manner == "hasty":
        print(number, flush=True)
    point("commit")
    connection.execute("commit")
    if manner == "failing":
        sys.exit("broken on purpose")
    point("commit")
    if manner == "careful":
        print(number, flush=True)
connection.close()
