"""Long dialogues between somebody and an assistant: a function of (seed, split, number, length).

What counts is spread thinly among small talk and long answers: facts about the speaker (some of which
change later), figures, small things that are said in passing, and what is to be done next. About all of
that there are questions with a few options, one of which is right.
"""

import random
from dataclasses import dataclass
from datetime import date, timedelta

from metamem.core.ids import derive_seed
from metamem.core.tokens import count_tokens
from metamem.core.types import Experience, Message
from metamem.domains.dialogue import away, home
from metamem.domains.dialogue.layout import day_text
from metamem.domains.dialogue.topic import Theme, Topic
from metamem.observation import phrases

VERSION = 1
OPTIONS = 4  # of a question: one is right, so that chance is a quarter
CHANGING = 0.5  # share of the facts about the speaker that change once
LENGTHS = (0.75, 1.25)  # of what is asked for
LONGER = 1.5  # in shift
EXCHANGES = 6  # of one session
FIGURES, ASIDES, NEXT = 6, 5, 4  # how many of each are said
ASSISTANT = "Assistant"


@dataclass(frozen=True, slots=True)
class Asked:
    """A question about a dialogue."""

    text: str
    options: tuple[str, ...]
    right: int


@dataclass(frozen=True, slots=True)
class Dialogue:
    sessions: tuple[Experience, ...]  # as a memory lives through them, in order
    asked: tuple[Asked, ...]
    tokens: int  # of all that was said


def dialogue(seed: int, split: str, number: int, tokens: int) -> Dialogue:
    """One dialogue of a split, about so long: no two are equally long, else a threshold could be learned
    that fits one length. Those of shift are about other things, and longer."""
    luck = random.Random(derive_seed("observation", VERSION, seed, split, number))
    away_from_home = split == "shift"
    theme = away.THEME if away_from_home else home.THEME
    length = tokens * luck.uniform(*LENGTHS) * (LONGER if away_from_home else 1.0)
    return _Writer(luck, theme).write(round(length))


class _Writer:
    """Collects what is to be said, each at its moment from 0 to 1, and fills the rest."""

    def __init__(self, luck: random.Random, theme: Theme) -> None:
        self.luck, self.theme = luck, theme
        self.who = luck.choice(theme.names)
        self.said: list[tuple[float, str]] = []
        self.asked: list[Asked] = []

    def write(self, tokens: int) -> Dialogue:
        for topic in self.theme.topics:
            self._fact(topic)
        self._details(phrases.FIGURE_THINGS, self._prices(), FIGURES)
        self._details(phrases.ASIDE_THINGS, list(phrases.COLOURS), ASIDES)
        self._next()
        sessions = self._sessions(tokens)
        self.luck.shuffle(self.asked)
        total = sum(count_tokens(m.text) for each in sessions for m in each.messages)
        return Dialogue(tuple(sessions), tuple(self.asked), total)

    # --- what counts -------------------------------------------------------------------------

    def _fact(self, topic: Topic) -> None:
        luck = self.luck
        values = luck.sample(topic.values, OPTIONS)
        right, before, wondered = values[0], values[1], values[2]
        if luck.random() < CHANGING:
            early, late = sorted(luck.random() for _ in range(2))
            self._say(early, luck.choice(topic.says), before)
            self._say(late, luck.choice(topic.changes), right)
        else:
            self._say(luck.random(), luck.choice(topic.says), right)
        if luck.random() < 0.5:
            self._say(luck.random(), luck.choice(phrases.WONDERED), wondered)
        self._ask(luck.choice(topic.asks).format(who=self.who), values)

    def _details(self, things: tuple[str, ...], values: list[str], count: int) -> None:
        """Of each thing the one value that was said, beside those of others."""
        figures = things is phrases.FIGURE_THINGS
        says = phrases.FIGURES if figures else phrases.ASIDES
        asks = phrases.FIGURE_ASKED if figures else phrases.ASIDE_ASKED
        said = self.luck.sample(values, max(count, OPTIONS))
        for n, thing in enumerate(self.luck.sample(things, count)):
            text = self.luck.choice(says)
            self.said.append((self.luck.random(), text.format(thing=thing, v=said[n])))
            others = self.luck.sample([value for value in said if value != said[n]], OPTIONS - 1)
            self._ask(asks.format(thing=thing), [said[n], *others])

    def _next(self) -> None:
        wishes = self.luck.sample(phrases.NEXT_THINGS, NEXT)
        moments = sorted(self.luck.random() for _ in wishes)
        for moment, wish in zip(moments, wishes, strict=True):
            self._say(moment, phrases.NEXT, wish)
        self._ask(phrases.NEXT_ASKED.format(who=self.who), wishes[::-1])

    def _prices(self) -> list[str]:
        return [str(price) for price in self.luck.sample(range(112, 989), 2 * FIGURES)]

    def _say(self, moment: float, text: str, value: str) -> None:
        said = text.format(v=value)
        self.said.append((moment, said[0].upper() + said[1:]))

    def _ask(self, text: str, options: list[str]) -> None:
        """The first option is the right one; they are shown in any order."""
        shown = self.luck.sample(options, len(options))
        self.asked.append(Asked(text, tuple(shown), shown.index(options[0])))

    # --- the dialogue around it --------------------------------------------------------------

    def _sessions(self, tokens: int) -> list[Experience]:
        """Exchanges until it is long enough, among which all that counts lies at its moments."""
        exchanges: list[list[str]] = []
        left = tokens - sum(count_tokens(text) for _, text in self.said)
        while left > 0 or not exchanges:
            exchanges.append([self._small_talk(), self._answer()])
            left -= sum(map(count_tokens, exchanges[-1]))
        for moment, text in sorted(self.said):
            # In front of the answer: whoever speaks says it after the small talk.
            exchanges[int(moment * len(exchanges))].insert(-1, text)
        day = date(self.luck.randint(2019, 2025), 1, 1)
        sessions = []
        for begin in range(0, len(exchanges), EXCHANGES):
            day += timedelta(days=self.luck.randint(1, 9))
            sessions.append(self._session(exchanges[begin : begin + EXCHANGES], day_text(day)))
        return sessions

    def _session(self, exchanges: list[list[str]], day: str) -> Experience:
        messages = []
        for *own, answer in exchanges:
            messages += [Message(self.who, text, day) for text in own]
            messages.append(Message(ASSISTANT, answer, day))
        return Experience(messages=tuple(messages))

    def _small_talk(self) -> str:
        if self.luck.random() < 0.2:
            return self.luck.choice(self.theme.chat)
        parts = (phrases.SUBJECTS, phrases.DOINGS, phrases.MOMENTS)
        return " ".join(map(self.luck.choice, parts)) + "."

    def _answer(self) -> str:
        return " ".join(self.luck.sample(phrases.ADVICE, self.luck.randint(4, 9)))
