"""Names that scopes and principals can have, made of texts that people and systems use."""

import re

from metamem.core.errors import UsageError
from metamem.core.ids import content_id
from metamem.service.writing.fields import Fields, named, told

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@+-]{0,127}")
_OTHER = re.compile(r"[^A-Za-z0-9._@+-]+")
READABLE = 60  # characters of a text that its name keeps
OWN = "user"  # the kind of scopes that are one person's own, by that person's name
DIGITS = 12  # of its hash, which keep names of different texts apart


def checked(name: str, what: str) -> str:
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"{told(name)} cannot be the name of a {what}",
            hint="letters, digits and . _ @ + - up to 128, with a letter or digit first",
        )
    return named(name, what)


def marked(readable: str, identity: str) -> str:
    """A name that people can read, which no other identity has."""
    seen = Fields().text(readable)  # the name of a folder may hold a secret
    plain = _OTHER.sub("-", seen).strip("-._@+")[:READABLE] or "x"
    return f"{plain}-{content_id(identity)[:DIGITS]}"


def encoded(text: str) -> str:
    """The text itself where it can be a name; else a readable part of it, with a mark."""
    return text if _NAME.fullmatch(text) else marked(text, text)


def same_name(name: str, other: str) -> bool:
    """Whether both name one person, as people write names."""
    return " ".join(name.casefold().split()) == " ".join(other.casefold().split())
