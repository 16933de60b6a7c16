"""Helpers that tests share: processes, PostgreSQL, requirements, what was left out. No tests here."""
