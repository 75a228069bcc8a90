"""Whose word a text is. A caller's credential says that, never what is written: what somebody claims of
its source and author counts no more than who claims it.

An agent's key gives an agent's word at most, whomever it quotes. An author who is not the caller is
kept as what was claimed, with whoever claimed it. The owner of the file, for whom importers and hooks
work, tells of others as a matter of course, so that this is not noted there.
"""

from collections.abc import Iterable

from metamem.core.access import Caller
from metamem.service.words import TRUST
from metamem.service.writing.trust import strength

PINS = (
    "an agent's key pins nothing that reads like an instruction, and nothing that is trusted less"
    " than an agent's word"
)
_ROLES = {"agent", "assistant", "tool", "outside", "system"}  # these name nobody


def word(caller: Caller, source: str) -> str:
    """The source that a claimed one is kept as."""
    return "agent" if caller.kind == "agent" and TRUST[source] > TRUST["agent"] else source


def told_by(caller: Caller, author: str) -> str:
    """Who told that the author said it; empty where that is the author, or the file's owner."""
    if caller.kind == "owner" or _same(author, caller.who):
        return ""
    plain = _plain(author)
    if plain in _ROLES or (plain == "user" and caller.kind == "person"):
        return ""
    return caller.who


def may_pin(caller: Caller, trust: int, texts: Iterable[str]) -> bool:
    """Whether a fact that the caller pins may head what others begin with."""
    if caller.kind != "agent":
        return True
    return trust >= TRUST["agent"] and not any(strength(text) for text in texts)


def title(caller: Caller, given: str) -> bool:
    """Whether briefings may show this name of a conversation to others."""
    found = strength(given)
    return found != "command" and not (found and caller.kind == "agent")


def _same(name: str, other: str) -> bool:
    return _plain(name) == _plain(other)


def _plain(name: str) -> str:
    return " ".join(name.casefold().split())
