"""What conversations are about, as templates. `{v}` is the value, `{who}` the one asked about."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Topic:
    """Something about a speaker that has one value at a time."""

    key: str
    values: tuple[str, ...]
    says: tuple[str, ...]
    prompts: tuple[str, ...]  # the other speaker asks ...
    replies: tuple[str, ...]  # ... and the line that answers makes sense only after that
    changes: tuple[str, ...]  # says what holds from now on, without naming what held before
    corrects: tuple[str, ...]  # takes back what was said wrongly, without naming it
    asks: tuple[str, ...]
    matter: str  # as in: forget what I said about ...


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happens on a day, perhaps again; `{v}` tells one time from another."""

    key: str
    says: tuple[str, ...]  # happened today
    late: tuple[str, ...]  # happened yesterday
    when: str
    often: str


@dataclass(frozen=True, slots=True)
class Kin:
    """Something about a person whom a speaker knows: needs to be told who that is."""

    key: str
    values: tuple[str, ...]
    says: tuple[str, ...]  # {name} and {v}
    asks: str  # {who} and {relation}


@dataclass(frozen=True, slots=True)
class Theme:
    """All that conversations of one kind draw from."""

    names: tuple[str, ...]
    others: tuple[str, ...]  # people who are only spoken of
    relations: tuple[str, ...]
    topics: tuple[Topic, ...]
    events: tuple[Event, ...]
    kin: tuple[Kin, ...]
    chat: tuple[str, ...]


def listed(text: str) -> tuple[str, ...]:
    """Many short texts in few lines of source, with bars between them."""
    return tuple(part.strip() for part in text.split("|"))
