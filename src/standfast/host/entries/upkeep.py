"""Settings, events, and the host itself."""

from __future__ import annotations

from typing import Final

from standfast.host import lock, upkeep
from standfast.host.operation import Operation

OPERATIONS: Final = (
    Operation(
        name="settings.get",
        summary="Show settings.",
        input=upkeep.ShowSettings,
        handler=upkeep.show_settings,
        effect="read",
    ),
    Operation(
        name="settings.set",
        summary="Change a setting.",
        input=upkeep.ChangeSetting,
        handler=upkeep.change_setting,
    ),
    Operation(
        name="events.list",
        summary="Read the journal.",
        input=upkeep.ListEvents,
        handler=upkeep.list_events,
        effect="read",
    ),
    Operation(
        name="audit.verify",
        summary="Check chains, and the journal against the tables.",
        input=upkeep.Nothing,
        handler=upkeep.audit,
        effect="read",
    ),
    Operation(
        name="host.status",
        summary="Show the host.",
        input=upkeep.Nothing,
        handler=upkeep.status,
        effect="read",
    ),
    Operation(
        name="host.policy",
        summary="Show the policy table.",
        input=upkeep.Nothing,
        handler=upkeep.show_policy,
        effect="read",
    ),
    Operation(
        name="host.backup",
        summary="Copy the database to a new file.",
        input=upkeep.Backup,
        handler=upkeep.backup,
        prepare=upkeep.prepare_backup,
    ),
    Operation(
        name="operator.protect",
        summary="Close, change or remove the operator lock.",
        input=lock.Protect,
        handler=lock.protect,
        prepare=lock.prepare_protect,
    ),
    Operation(
        name="plans.expire",
        summary="Expire the proposals that are due.",
        input=upkeep.Nothing,
        handler=upkeep.expire,
    ),
    Operation(
        name="receipts.prune",
        summary="Delete receipts past their retention.",
        input=upkeep.Prune,
        handler=upkeep.prune,
    ),
)
