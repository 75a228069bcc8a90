"""Generated notes: facts as agents and people jot them down, each by itself, and what is asked of them.

Scopes of two facts to two hundred. Each is asked for in three ways: in whole questions, in the few words
that one types into a search box, and by goals ("fix the bug in the checkout"), for which all that is
known of a thing is of use. Some ask for what no note tells: another trait of a thing that is known,
a thing that is not, or a matter that never came up.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

from bench.memory_talks import Asked, Spoken, Talk
from bench.note_subjects import (
    FOR_MEASURING,
    FOR_TRAINING,
    REMARKS_MEASURING,
    REMARKS_TRAINING,
    Group,
    Trait,
)
from metamem.core.ids import derive_seed
from metamem.core.stopwords import STOP
from metamem.core.terms import terms

DAY = 86_400_000
START = 1_600_000_000_000
SIZES = ((2, 4), (5, 15), (20, 60), (60, 200))
ANSWERED = ("asked", "typed", "goal")
UNANSWERED = ("other trait", "other thing", "other matter")
MOST_OF_A_KIND = 5  # questions of each kind in a scope


@dataclass(frozen=True, slots=True)
class Words:
    """What notes are made of."""

    groups: tuple[Group, ...]
    remarks: tuple[str, ...]


TRAINING = Words(FOR_TRAINING, REMARKS_TRAINING)
MEASURING = Words(FOR_MEASURING, REMARKS_MEASURING)


def notes(seed: int, number: int, words: Words = TRAINING) -> Talk:
    """One scope: a function of its seed and number."""
    rng = random.Random(derive_seed("recall-notes", seed, number))
    return _Notes(rng, words).write(f"notes-{seed}-{number}", rng.randint(*rng.choice(SIZES)))


class _Notes:
    def __init__(self, rng: random.Random, words: Words) -> None:
        self.rng, self.words = rng, words
        self.lines: list[str] = []
        self.told: dict[tuple[str, Trait], list[int]] = {}

    def write(self, name: str, size: int) -> Talk:
        rng = self.rng
        here = rng.sample(self.words.groups, rng.randint(1, len(self.words.groups)))
        known = {thing for g in here for thing in rng.sample(g.things, rng.randint(2, 9))}
        pairs = [(t, each) for g in here for t in g.things if t in known for each in g.traits]
        rng.shuffle(pairs)
        for thing, trait in pairs[: max(1, round(size * 0.8))]:
            for _ in range(1 + (rng.random() < 0.1)):  # some are said again, of another value
                said = rng.choice(trait.says).format(e=thing, v=rng.choice(trait.values))
                self._add(thing, trait, said)
        for remark in rng.sample(self.words.remarks, min(len(self.words.remarks), size // 4)):
            self.lines.append(remark)
        order = rng.sample(range(len(self.lines)), len(self.lines))
        place = {old: new for new, old in enumerate(order)}
        lines = tuple(
            Spoken("agent", _upper(self.lines[old]), -1, START + DAY * new)
            for new, old in enumerate(order)
        )
        now = START + DAY * (len(lines) + 1)
        questions = tuple(
            Asked(self._typed_in(text), frozenset(place[n] for n in found), kind, now)
            for kind, text, found in self._questions(here)
        )
        return Talk(name, lines, questions)

    def _add(self, thing: str, trait: Trait, said: str) -> None:
        self.told.setdefault((thing, trait), []).append(len(self.lines))
        self.lines.append(said)

    def _questions(self, here: Sequence[Group]) -> list[tuple[str, str, list[int]]]:
        rng = self.rng
        of: dict[str, list[int]] = {}
        for (thing, _), found in self.told.items():
            of.setdefault(thing, []).extend(found)
        named = " ".join(self.lines)
        made: dict[str, list[tuple[str, list[int]]]] = {k: [] for k in (*ANSWERED, *UNANSWERED)}
        for (thing, trait), found in self.told.items():
            made["asked"].append((rng.choice(trait.asks).format(e=thing), found))
            made["typed"].append((rng.choice(trait.words).format(e=thing), found))
        for group in self.words.groups:
            for thing in group.things:
                goal = rng.choice(group.goals).format(e=thing)
                trait = rng.choice(group.traits)
                text = rng.choice(rng.choice((trait.asks, trait.words))).format(e=thing)
                if thing in of:
                    made["goal"].append((goal, of[thing]))
                    if (thing, trait) not in self.told:
                        made["other trait"].append((text, []))
                elif thing not in named and group in here:
                    made["other thing"].append((rng.choice((text, text, goal)), []))
                elif thing not in named:
                    made["other matter"].append((rng.choice((text, text, goal)), []))
        return [
            (kind, text, found)
            for kind, asked in made.items()
            for text, found in rng.sample(asked, min(len(asked), MOST_OF_A_KIND))
        ]

    def _typed_in(self, text: str) -> str:
        """Some write no capitals and no question mark."""
        return text.lower().rstrip("?") if self.rng.random() < 0.3 else _upper(text)


NUMBERED = (
    "Invoice {n} belongs into folder {n}.",
    "Seat {n} is in row {m} of hall {n}.",
    "Ticket {n} was closed by worker {m} on day {m}.",
    "The backup of week {n} lies on disk {m} in the vault.",
    "Sample {n} was taken from well {n} at noon.",
    "Locker {n} is opened by key {m}.",
)


def word_for_word(talk: Talk, seed: int) -> Talk:
    """The same notes and some that differ in a number alone, asked for in their own words: what has
    all of them, once and in a sentence, is what was looked for."""
    rng = random.Random(derive_seed("recall-word-for-word", seed, talk.name))
    form = rng.choice(NUMBERED)
    more = [form.format(n=n, m=rng.randint(1, 40)) for n in range(rng.randint(5, 60))]
    last = talk.lines[-1]
    lines = (*talk.lines, *(replace(last, text=text) for text in more))
    questions = []
    for number in rng.sample(range(len(lines)), min(len(lines), 12)):
        telling = [w for w in lines[number].text.rstrip(".").split() if w.lower() not in STOP]
        size = rng.randint(2, 4)
        begin = rng.randint(0, max(0, min(len(telling) - size, 2)))
        text = " ".join(telling[begin : begin + size]).lower()
        found = frozenset(
            n for n, line in enumerate(lines) if terms(text).keys() <= terms(line.text).keys()
        )
        questions.append(Asked(text, found, "word for word", last.said_at + DAY))
    return Talk(f"{talk.name}-words", lines, tuple(questions))


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]
