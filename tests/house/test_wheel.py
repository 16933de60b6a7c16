"""The wheel that people install: it holds everything, and plays the main job away from the repository."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from tests.support.repository import ROOT, SOURCE, files

SECONDS = 180


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built wheel."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", str(folder)]
    subprocess.run([*command, str(ROOT)], check=True, capture_output=True, timeout=SECONDS)
    [found] = folder.glob("standfast-*-py3-none-any.whl")
    return found


def test_the_wheel_holds_the_product_and_nothing_else(wheel: Path) -> None:
    held = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    ours = {f"standfast/{path.relative_to(SOURCE)}" for path in files() if path.is_relative_to(SOURCE)}
    assert held == ours


def test_an_installed_wheel_plays_the_main_job_in_an_empty_home(wheel: Path, tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "env")], check=True, timeout=SECONDS)
    python = tmp_path / "env" / "bin" / "python"
    command = [sys.executable, "-m", "pip", "--python", str(python), "install", "-q", "--no-deps", "--no-index"]
    subprocess.run([*command, str(wheel)], check=True, capture_output=True, timeout=SECONDS)
    [place] = (tmp_path / "env").glob("lib/python3*/site-packages")
    # The dependencies are those of the tests; a path in a .pth file does not bring the checkout's own .pth along.
    (place / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    (tmp_path / "home").mkdir()
    environ = {"HOME": str(tmp_path / "home"), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
    where = subprocess.run(
        [python, "-c", "import standfast; print(standfast.__file__)"],
        capture_output=True, text=True, check=True, cwd=tmp_path, env=environ, timeout=SECONDS,
    )  # fmt: skip
    assert where.stdout.startswith(str(place))
    done = subprocess.run(
        [tmp_path / "env" / "bin" / "standfast", "demo"],
        capture_output=True, text=True, check=False, cwd=tmp_path, env=environ, timeout=SECONDS,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "SURVIVED" in done.stdout
    assert sorted(path.name for path in (tmp_path / "home").rglob("*")) == []
