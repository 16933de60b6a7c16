"""How each client is configured and driven headless. `DRIVERS` has one per client."""

from __future__ import annotations

from collections.abc import Mapping

from tests.clients.drivers.base import Driver
from tests.clients.drivers.claude import Claude

DRIVERS: Mapping[str, type[Driver]] = {"claude": Claude}
