"""`operator protect`: a passphrase beside the token, wherever a person decides.

The passphrase is typed on a terminal and stays in this process: the host gets a verifier of it.
"""

from __future__ import annotations

from argparse import Namespace

from standfast.cli.commands import UsageError, connection, emit
from standfast.cli.person import Person

STATES = {True: "The operator lock is closed: a verdict needs the passphrase.", False: "There is no operator lock."}


def show(arguments: Namespace) -> int:
    """Whether a passphrase is needed."""
    locked = bool(connection(arguments).call("host.status")["locked"])
    return emit(arguments, {"locked": locked}, STATES[locked])


def protect(arguments: Namespace) -> int:
    """Closes the lock with a new passphrase; where it is closed, the old one is asked for first."""
    from standfast.domain.errors import Refusal
    from standfast.host.lock import make_verifier

    person = Person()
    passphrase = person.secret("New passphrase: ")
    if person.secret("The same again: ") != passphrase:
        raise UsageError("The two were not the same; nothing was changed.")
    try:
        verifier = make_verifier(passphrase)
    except Refusal as refusal:
        raise UsageError(refusal.message) from refusal
    answer = connection(arguments).call("operator.protect", {"verifier": verifier})
    return emit(arguments, answer, STATES[answer["locked"]])


def unprotect(arguments: Namespace) -> int:
    """Takes the lock away."""
    Person()
    answer = connection(arguments).call("operator.protect", {"verifier": None})
    return emit(arguments, answer, STATES[answer["locked"]])
