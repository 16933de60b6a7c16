"""The compiled shim, once for a run of these tests."""

from pathlib import Path

import pytest

from tests.support.shim import build_shim


@pytest.fixture(scope="session")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The shim's library; tests that need it are left out, with the reason, where it cannot be built."""
    reasons: list[str] = []
    library = build_shim(tmp_path_factory.mktemp("shim"), reasons.append)
    if library is None:
        pytest.skip(reasons[0])
    return library
