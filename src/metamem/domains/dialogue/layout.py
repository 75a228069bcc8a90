"""From what is to be said to sessions of lines, with small talk in between."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from metamem.domains.dialogue.conversation import Line, Session
from metamem.domains.dialogue.smalltalk import (
    CHAT_REPLIES,
    FAREWELLS,
    GOODBYES,
    GREETED,
    GREETINGS,
    REACTIONS,
)
from metamem.domains.dialogue.topic import Theme

REACTS = 0.6  # share of what is said that the other speaker takes up
CHATS = 0.45  # chance of small talk after each thing said


@dataclass(eq=False, slots=True)
class Said:
    """Something to be said. `must` holds what makes it evidence; `prompt` is asked before it."""

    speaker: str
    text: str
    time: float  # the whole part is the number of the session
    must: tuple[str, ...] = ()
    prompt: str = ""


def day_text(day: date) -> str:
    return f"{day.day} {day:%B} {day.year}"


def lay_out(
    rng: random.Random,
    theme: Theme,
    pair: Sequence[str],
    days: Sequence[date],
    said: Sequence[Said],
    chat: int,
) -> tuple[tuple[Session, ...], dict[int, str]]:
    """The sessions, and the id of the line of each thing said, by its object's id.

    Each session begins with so many rounds of small talk.
    """
    ids: dict[int, str] = {}
    sessions = []
    for number, day in enumerate(days, 1):
        talk = _Talk(rng, theme, rng.sample(list(pair), 2), number)
        talk.open(chat)
        for each in sorted((s for s in said if int(s.time) + 1 == number), key=lambda s: s.time):
            ids[id(each)] = talk.tell(each)
        talk.close()
        sessions.append(Session(day_text(day), tuple(talk.lines)))
    return tuple(sessions), ids


class _Talk:
    """One session as it grows."""

    def __init__(self, rng: random.Random, theme: Theme, pair: list[str], number: int) -> None:
        self.rng, self.theme, self.pair, self.number = rng, theme, pair, number
        self.lines: list[Line] = []
        self.chat = rng.sample(theme.chat, len(theme.chat))

    def add(self, speaker: str, text: str) -> str:
        other = self.other(speaker)
        line = Line(f"D{self.number}:{len(self.lines) + 1}", speaker, text.format(other=other))
        self.lines.append(line)
        return line.id

    def other(self, speaker: str) -> str:
        return self.pair[1 - self.pair.index(speaker)]

    def open(self, chat: int) -> None:
        one, two = self.pair
        self.add(one, self.rng.choice(GREETINGS))
        self.add(two, self.rng.choice(GREETED))
        for _ in range(chat):
            self.small_talk()

    def tell(self, said: Said) -> str:
        if said.prompt:
            self.add(self.other(said.speaker), said.prompt)
        line = self.add(said.speaker, said.text)
        if self.rng.random() < REACTS:
            self.add(self.other(said.speaker), self.rng.choice(REACTIONS))
        if self.rng.random() < CHATS:
            self.small_talk()
        return line

    def small_talk(self) -> None:
        one, two = self.rng.sample(self.pair, 2)
        self.add(one, self.chat.pop())
        self.add(two, self.rng.choice(CHAT_REPLIES))

    def close(self) -> None:
        one, two = self.rng.sample(self.pair, 2)
        self.add(one, self.rng.choice(GOODBYES))
        self.add(two, self.rng.choice(FAREWELLS))
