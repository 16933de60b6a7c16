"""The locks hold what pyproject.toml asks for, by hash, and tests run with the versions of the product."""

from __future__ import annotations

import re
import tomllib

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from tests.support.repository import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
RUN = [*PROJECT["project"]["dependencies"], *PROJECT["project"]["optional-dependencies"]["postgres"]]
BUILD = [*PROJECT["dependency-groups"]["build"], *PROJECT["build-system"]["requires"]]
DEV = [each for each in PROJECT["dependency-groups"]["dev"] if isinstance(each, str)]


def entries(lock: str) -> dict[str, str]:
    """Package -> the text of its entry in a lock."""
    text = (ROOT / lock).read_text(encoding="utf-8")
    found = re.split(r"^(?=[a-z0-9])", text, flags=re.MULTILINE)
    return {canonicalize_name(entry.partition("==")[0]): entry for entry in found if "==" in entry}


def version(entry: str) -> Version:
    """The version that an entry pins."""
    return Version(re.split(r"[\s;]", entry.partition("==")[2])[0])


@pytest.mark.parametrize(
    ("lock", "wanted"),
    [("requirements.lock", [*RUN, *BUILD]), ("requirements-dev.lock", [*RUN, *BUILD, *DEV])],
)
def test_a_lock_has_what_the_project_asks_for(lock: str, wanted: list[str]) -> None:
    locked = entries(lock)
    for line in wanted:
        asked = Requirement(line)
        entry = locked.get(canonicalize_name(asked.name), "")
        assert entry, f"{asked.name} is not in {lock}: run `make lock`"
        assert asked.specifier.contains(version(entry)), f"{lock} has another {asked.name}: run `make lock`"


@pytest.mark.parametrize("lock", ["requirements.lock", "requirements-dev.lock"])
def test_every_locked_package_is_pinned_by_hash(lock: str) -> None:
    assert [name for name, entry in entries(lock).items() if "--hash=sha256:" not in entry] == []


def test_both_locks_pin_the_same_versions() -> None:
    run, dev = entries("requirements.lock"), entries("requirements-dev.lock")
    assert {name: version(entry) for name, entry in run.items()} == {name: version(dev[name]) for name in run}
