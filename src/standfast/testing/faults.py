"""Kill the host at every statement and every file step of every operation, and look at what is left.

For each scenario: prepare a home, then again and again copy it, run the call in a child that is killed with
SIGKILL at the n-th point, open the home as a new boot does, and check that

- what was acknowledged is stored, and asked again with the same key gives the same answer;
- what was not is wholly there or wholly not: its events are all of an undisturbed run's or none of them;
- the journal's chains are whole and folding it gives the tables;
- every plan's file holds exactly the stored bytes, and nothing else of the host's lies in the workspace;
- asking again leaves the effect there once, or is answered as a new boot answers it the first time.

The process that forks never opens a host itself, so that no lock is held when a child is made. As a program
it prints a table and ends with 1 when something was lost: `python -m standfast.testing.faults [--points N]`.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from standfast.app.verify import verify_database
from standfast.domain.errors import Refusal
from standfast.domain.plan import Plan, PlanText
from standfast.host.audit import verify
from standfast.store.tx import Tx
from standfast.testing.files import NthFiles
from standfast.testing.play import Call, Play
from standfast.testing.scenarios import SCENARIOS, TELLS_OF_ITS_FILE

KEY: Final = "fault"
KINDS: Final = ("statement", "file step")
MOST: Final = 5_000


class Baseline(msgspec.Struct):
    """A prepared home: the call, the journal's length before it, and an undisturbed run's events and points.

    `fresh` is what a new boot finds and answers where the call was never made: a new boot interrupts what was
    pending, so that it may answer differently.
    """

    call: Call
    before: int
    events: list[str]
    points: dict[str, int]
    fresh: Mapping[str, Any]


def apart(work: Callable[[], Any]) -> Any:
    """Runs `work` in a child; its value as plain JSON, or None when it was killed."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.close(reading)
            data = msgspec.json.encode(work())
            with os.fdopen(writing, "wb") as stream:
                stream.write(data)
            status = 0
        except BaseException as error:
            print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
        finally:
            os._exit(status)
    os.close(writing)
    with os.fdopen(reading, "rb") as stream:
        data = stream.read()
    _, ended = os.waitpid(child, 0)
    if os.WIFEXITED(ended) and os.WEXITSTATUS(ended) != 0:
        raise RuntimeError("a child failed; its message is above")
    return msgspec.json.decode(data) if data else None


class Point:
    """The n-th point at which the process dies, once it is armed; 0 is none."""

    def __init__(self, n: int) -> None:
        self.n = n
        self.count = 0
        self.armed = False

    def statement(self, sql: str) -> None:
        """Counts a statement that is about to run."""
        self.count += self.armed
        if self.armed and self.count == self.n:
            self.strike(sql)

    def strike(self, what: str) -> None:
        """Dies as nothing else does: without a last word."""
        if self.armed:
            os.kill(os.getpid(), signal.SIGKILL)


def attempt(folder: Path, call: Call, kind: str, n: int) -> dict[str, Any]:
    """Runs the call, dying at the n-th point; the answer and the number of points."""
    point = Point(n)
    files = NthFiles(n, point.strike)
    by_statement = kind == KINDS[0]
    play = Play(folder, hook=point.statement if by_statement else None, files=None if by_statement else files)
    files.count = 0
    point.armed = True
    answer = play.host.call(call.operation, call.payload, call.actor, KEY)
    point.armed = False
    return {"result": answer.result, "points": point.count if by_statement else files.count}


def prepare(folder: Path, operation: str) -> dict[str, Any]:
    """Makes the home of a scenario."""
    play = Play(folder)
    call = SCENARIOS[operation](play)
    before = play.host.store.read(lambda tx: tx.number("events_last"))
    play.close()
    return {"call": call, "before": before}


def look(folder: Path, call: Call, before: int) -> dict[str, Any]:
    """What a new boot finds: the actor's events since, the audit, files; then the call asked again."""
    play = Play(folder, "second")
    read = play.host.store.read
    events = read(lambda tx: _events(tx, before, call))
    files = read(lambda tx: _strays(tx, folder))
    try:
        answer = play.host.call(call.operation, call.payload, call.actor, KEY)
        again: dict[str, Any] = {"result": answer.result, "replayed": answer.replayed}
    except Refusal as refusal:
        again = {"refused": refusal.code}
    audit = read(verify)
    after = read(lambda tx: _events(tx, before, call))
    play.close()
    return {"events": events, "files": files, "again": again, "audit": audit["findings"], "after": after}


def _events(tx: Tx, before: int, call: Call) -> list[str]:
    """The kinds of the call's own events: the artifact's intents are the host's."""
    found = tx.journal("events_after", after=before, most=10_000)
    return [event.kind for event in found if event.actor == call.actor.key and not event.kind.startswith("artifact.")]


def _strays(tx: Tx, folder: Path) -> list[str]:
    """Files in the workspace that no plan explains, and plans whose file is not their bytes."""
    place = folder / "project"
    known = {plan.path: plan.id for plan in tx.find(Plan, "all_plans")}
    found = {str(file.relative_to(place)) for file in (place / ".standfast" / "plan").glob("*") if file.is_file()}
    backup = folder / "backup.db"
    if backup.exists() and not verify_database(str(backup))["ok"]:
        return ["the backup is not whole"]
    wrong = [f"{name} is nobody's" for name in sorted(found - set(known)) if not name.endswith(".gitignore")]
    for path, plan in known.items():
        text = tx.get(PlanText, plan)
        if text is None or path not in found or (place / path).read_bytes() != text.markdown:
            wrong.append(f"{path} is not its plan's bytes")
    return wrong


def violations(base: Baseline, told: Mapping[str, Any] | None, found: Mapping[str, Any]) -> list[str]:
    """What was promised and does not hold; `told` is the answer of a call that came to its end."""
    wrong = [*found["files"], *found["audit"]]
    if found["events"] not in ([], base.events):
        wrong.append(f"half of it is stored: {found['events']} of {base.events}")
    again = found["again"]
    if told is not None and (found["events"] != base.events or again != {"result": told["result"], "replayed": True}):
        wrong.append(f"acknowledged, and not found again: {again}")
    if found["events"] == base.events and base.events and not again.get("replayed"):
        wrong.append(f"stored, and not replayed: {again}")
    if base.call.operation in TELLS_OF_ITS_FILE and again.get("refused") == "conflict":
        return wrong
    once = base.events if found["events"] else base.fresh["after"]
    if found["after"] != once:
        wrong.append(f"asked again, its effect is there as {found['after']} instead of {once}")
    if not found["events"] and again.get("refused") != base.fresh["again"].get("refused"):
        wrong.append(f"nothing was stored, and asked again it answers {again}")
    return wrong


class Bench:
    """One scenario's homes below a folder. The working home has always the same path: plans remember it."""

    def __init__(self, folder: Path, operation: str) -> None:
        self._kept, self._home = folder / "kept", folder / "home"
        made = apart(lambda: prepare(self._home, operation))
        self._home.rename(self._kept)
        self.base = Baseline(msgspec.convert(made["call"], Call), made["before"], [], {}, {})
        shutil.copytree(self._kept, self._home)
        self.base.fresh = apart(lambda: look(self._home, self.base.call, self.base.before))
        for kind in KINDS:
            told, found = self.run(kind, 0)
            assert told is not None, "nothing kills an undisturbed run"
            self.base.points[kind] = told["points"]
            self.base.events = found["events"]

    def run(self, kind: str, n: int) -> tuple[Mapping[str, Any] | None, Mapping[str, Any]]:
        """One attempt on a fresh copy, and what was found afterwards."""
        shutil.rmtree(self._home, ignore_errors=True)
        shutil.copytree(self._kept, self._home)
        call = self.base.call
        told = apart(lambda: attempt(self._home, call, kind, n))
        return told, apart(lambda: look(self._home, call, self.base.before))


def sweep(operation: str, points: int) -> Iterator[tuple[str, int, int, list[str]]]:
    """Kind, points tried, points there are, and violations; at most `points` of a kind, evenly spread."""
    with tempfile.TemporaryDirectory(prefix="standfast-faults-") as name:
        bench = Bench(Path(name), operation)
        for kind, most in bench.base.points.items():
            tried = range(1, most + 1, max(1, -(-most // points)))
            wrong = []
            for n in tried:
                told, found = bench.run(kind, n)
                wrong += [f"{operation}, {kind} {n}: {text}" for text in violations(bench.base, told, found)]
            yield kind, len(tried), most, wrong


def main() -> int:
    """The table of all operations; 1 when a promise was broken."""
    parser = argparse.ArgumentParser(description="Kill the host at every point of every operation.")
    parser.add_argument("--points", type=int, default=MOST, help="at most so many points of a kind and operation")
    parser.add_argument("operations", nargs="*", help="some operations instead of all")
    arguments = parser.parse_args()
    broken: list[str] = []
    total = 0
    print(f"{'OPERATION':24}{'STATEMENTS':>14}{'FILE STEPS':>14}  OUTCOME", flush=True)
    for operation in arguments.operations or SCENARIOS:
        rows = list(sweep(operation, arguments.points))
        wrong = [text for *_, found in rows for text in found]
        counts = "".join(f"{f'{tried}/{most}':>14}" for _, tried, most, _ in rows)
        print(f"{operation:24}{counts}  {f'{len(wrong)} BROKEN' if wrong else 'kept'}", flush=True)
        total += sum(tried for _, tried, _, _ in rows)
        broken += wrong
    print("\n".join([*broken, f"{total} kill points, {len(broken)} broken promises"]))
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
