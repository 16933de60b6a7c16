"""The tests of Standfast; a package so that `tests.support` is importable from every folder below."""
