"""What each layer may import, where the import contracts in pyproject.toml cannot say it.

The contracts (layers, drivers, door) are run by `lint-imports`; here they are run once more inside the
tests, so that a plain pytest run says the same. In addition: the domain's allow-list, the client's start-up
cost, and that nothing in the product imports the tests.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.repository import ROOT, SOURCE, imports, modules, name, tree

DOMAIN_MAY_IMPORT = {"msgspec", "markdown_it", "mdit_py_plugins", "standfast.domain"}
TRANSCRIPTS_MAY_IMPORT = {"msgspec", "standfast.transcripts"}
DRIVERS = {"sqlite3", "psycopg", "psycopg_pool"}
MAY_IMPORT_DRIVERS = ("store/", "testing/", "app.py", "app/", "transcripts/databases.py")
"""The last one reads the databases of other programs, which are not ours."""

FOREIGN_MODULES = """
import importlib, sys
importlib.import_module(sys.argv[1])
loaded = {name.partition(".")[0] for name in sys.modules} - set(sys.stdlib_module_names)
print(*sorted(loaded - set(sys.argv[2:]) - {"standfast", "__main__"}))
"""


def within(imported: str, allowed: set[str]) -> bool:
    """Whether an imported name is one of the allowed packages or below one."""
    return any(imported == each or imported.startswith(f"{each}.") for each in allowed)


def strangers(path: Path, allowed: set[str]) -> list[str]:
    """Imports of a module that are neither standard library nor allowed."""
    return [
        f"{name(path)}:{line} imports {imported}"
        for imported, line in imports(tree(path))
        if imported.partition(".")[0] not in sys.stdlib_module_names and not within(imported, allowed)
    ]


def client_modules() -> list[str]:
    """The dotted names of the modules that the hook and the pipe start from."""
    found = (path.relative_to(SOURCE.parent).with_suffix("") for path in modules(SOURCE / "client"))
    return [".".join(path.parts).removesuffix(".__init__") for path in found]


def loaded_by(module: str, *options: str) -> str:
    """The modules from outside the standard library that importing `module` brings in."""
    base = subprocess.run(
        [sys.executable, "-c", FOREIGN_MODULES, "sys"], capture_output=True, text=True, check=True, timeout=60
    )
    # What an installation loads by itself (site hooks) says nothing about us.
    command = [sys.executable, *options, "-c", FOREIGN_MODULES, module, *base.stdout.split()]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_import_contracts_hold() -> None:
    command = [
        sys.executable,
        "-c",
        "from importlinter.cli import lint_imports_command as run; run()",
        "--no-cache",
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", modules(SOURCE / "domain"), ids=name)
def test_the_domain_imports_only_plain_tools(path: Path) -> None:
    assert not strangers(path, DOMAIN_MAY_IMPORT)


@pytest.mark.parametrize("path", modules(SOURCE / "transcripts"), ids=name)
def test_the_transcript_readers_import_nothing_else_of_ours(path: Path) -> None:
    assert not strangers(path, TRANSCRIPTS_MAY_IMPORT)


@pytest.mark.parametrize("path", modules(SOURCE), ids=name)
def test_only_the_store_the_app_the_test_kit_and_a_reader_of_strange_databases_see_a_driver(path: Path) -> None:
    if path.relative_to(SOURCE).as_posix().startswith(MAY_IMPORT_DRIVERS):
        return
    assert not [imported for imported, _ in imports(tree(path)) if within(imported, DRIVERS)]


@pytest.mark.parametrize("module", client_modules())
def test_importing_the_client_loads_the_standard_library_only(module: str) -> None:
    assert loaded_by(module) == ""


def test_the_product_does_not_import_its_tests() -> None:
    found = [name(p) for p in modules(SOURCE) for i, _ in imports(tree(p)) if within(i, {"tests", "pytest"})]
    assert [place for place in found if not place.startswith("src/standfast/testing/")] == []


def test_a_stranger_in_the_domain_is_found(tmp_path: Path) -> None:
    path = tmp_path / "odd.py"
    path.write_text("import json\nfrom standfast.domain import plan\n\ndef f():\n    import standfast.store.tx\n")
    assert strangers(path, DOMAIN_MAY_IMPORT) == [f"{path}:5 imports standfast.store.tx"]


def test_a_heavy_import_is_seen_by_the_client_check() -> None:
    assert "msgspec" in loaded_by("msgspec").split()
