"""What people who watch read, beside what everybody reads."""

from __future__ import annotations

from typing import Final

from standfast.host import comparing, contexts, overview
from standfast.host.operation import Operation

OPERATIONS: Final = (
    Operation(
        name="session.overview",
        summary="Show what every session does and waits for.",
        input=overview.Overview,
        handler=overview.overview,
        effect="read",
    ),
    Operation(
        name="plan.compare",
        summary="Show how a plan's text differs from another's.",
        input=comparing.ComparePlan,
        handler=comparing.difference,
        effect="read",
    ),
    Operation(
        name="context.show",
        summary="Show marker and resume view without telling them.",
        input=contexts.ShowContext,
        handler=contexts.show,
        effect="read",
    ),
    Operation(
        name="host.search",
        summary="Find plans and sessions by words.",
        input=overview.Search,
        handler=overview.search,
        effect="read",
    ),
)
