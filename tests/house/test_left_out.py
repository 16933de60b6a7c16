"""What a run left out is said in its last lines, once per reason, also from several workers."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.support.repository import ROOT

CASES = """
import pytest

@pytest.mark.parametrize("n", range(3))
def test_that_needs_a_browser(n):
    pytest.skip("no browser on this machine")

@pytest.mark.skipif(True, reason="no FUSE on this machine")
def test_that_needs_fuse():
    pass

@pytest.mark.xfail(reason="known to be slow", strict=True)
def test_that_is_expected_to_fail():
    raise AssertionError

def test_that_runs():
    pass
"""


def last_lines(folder: Path, *options: str, count: int) -> list[str]:
    """The last lines of a run over one file, with the plugin and nothing else of ours."""
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "-p",
            "tests.support.left_out",
            *options,
        ],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    return done.stdout.strip().splitlines()[-count:]


def test_reasons_are_grouped_and_come_before_the_closing_line(tmp_path: Path) -> None:
    (tmp_path / "test_cases.py").write_text(CASES)
    last = last_lines(tmp_path, "-n", "2", count=4)
    assert last[:3] == [
        "left out: 3 tests: no browser on this machine",
        "left out: 1 test: expected to fail: known to be slow",
        "left out: 1 test: no FUSE on this machine",
    ]
    assert last[3].startswith("1 passed, 4 skipped, 1 xfailed")


def test_nothing_left_out_is_said_too(tmp_path: Path) -> None:
    (tmp_path / "test_cases.py").write_text("def test_that_runs_well():\n    pass\n")
    assert last_lines(tmp_path, count=2)[0] == "left out: nothing"


def test_a_whole_module_that_is_left_out_is_said(tmp_path: Path) -> None:
    (tmp_path / "test_cases.py").write_text("import pytest\npytest.skip('no terminal here', allow_module_level=True)\n")
    assert last_lines(tmp_path, count=2)[0] == "left out: 1 test: no terminal here"
