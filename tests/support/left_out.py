"""Says in the last lines of a run what was left out, and why: a silent skip looks like a pass.

A test is left out when it skips (or is expected to fail); its reason is the sentence given there. The lines
are grouped by reason and printed once, by the process that reports for all workers, just before the closing
line.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import pytest


def reason_of(report: pytest.TestReport | pytest.CollectReport) -> str:
    """The sentence that the test gave for being left out."""
    if isinstance(report.longrepr, tuple):
        return report.longrepr[2].removeprefix("Skipped: ")
    if wasxfail := getattr(report, "wasxfail", ""):
        return f"expected to fail: {str(wasxfail).removeprefix('reason: ')}"
    return str(report.longrepr)


def lines(reports: Iterable[pytest.TestReport | pytest.CollectReport]) -> list[str]:
    """One line per reason, with the number of tests: the most numerous first, then by name."""
    counts = Counter(reason_of(report) for report in reports)
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return [f"left out: {count} {'test' if count == 1 else 'tests'}: {reason}" for reason, count in ordered]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Prints the lines, and says so where there was nothing to leave out."""
    stats = terminalreporter.stats
    for line in lines([*stats.get("skipped", []), *stats.get("xfailed", [])]) or ["left out: nothing"]:
        terminalreporter.write_line(line)
