"""Own conversations: a function of (version, seed, split, number)."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from itertools import product
from typing import TypeVar

from metamem.core.ids import derive_seed
from metamem.domains.dialogue import away, home
from metamem.domains.dialogue.conversation import (
    Conversation,
    Evidence,
    Question,
)
from metamem.domains.dialogue.layout import Said, day_text, lay_out
from metamem.domains.dialogue.smalltalk import INTRODUCTIONS, WITHDRAWALS
from metamem.domains.dialogue.topic import Event, Kin, Theme, Topic

VERSION = 2
SESSIONS = {"home": (10, 14), "away": (18, 24)}
CHAT = {"home": 1, "away": 3}  # rounds of small talk at the start of each session
SAID_AGAIN = 0.4  # share of single facts that come up a second time, in other words
PROMPTED = 0.35  # share of facts that are told because the other speaker asks
OTHERS_DAY = 0.35  # share of events that are told the day after

T = TypeVar("T")


@dataclass(slots=True)
class _Asked:
    """A question before its lines have ids."""

    kind: str
    text: str
    pool: str  # key of the values that could be the answer; empty where it is none of them
    evidence: list[list[Said]] = field(default_factory=list)
    answers: list[tuple[str, ...]] = field(default_factory=list)
    against: tuple[str, ...] = ()
    suffices: bool = True


def generate(seed: int, split: str, number: int) -> Conversation:
    """One conversation of a split, with its questions in shuffled order."""
    name = "away" if split == "shift" else "home"
    rng = random.Random(derive_seed("dialogue", VERSION, seed, split, number))
    theme = away.THEME if name == "away" else home.THEME
    writer = _Writer(rng, theme, rng.randint(*SESSIONS[name]), CHAT[name])
    return writer.write(f"{split}-{number:02d}")


class _Writer:
    """Plans what is said when, lets it be laid out in sessions, and asks about it."""

    def __init__(self, rng: random.Random, theme: Theme, sessions: int, chat: int) -> None:
        self.rng, self.theme, self.count, self.chat = rng, theme, sessions, chat
        self.pair = tuple(rng.sample(theme.names, 2))
        self.others = rng.sample(theme.others, len(theme.others))
        self.topics = rng.sample(theme.topics, len(theme.topics))
        self.values = {t.key: rng.sample(t.values, len(t.values)) for t in theme.topics}
        self.named: dict[str, list[str]] = {}  # values that were drawn
        day = date(rng.randint(2019, 2025), 1, 1) + timedelta(days=rng.randrange(365))
        self.days = [day]
        for _ in range(sessions - 1):
            self.days.append(self.days[-1] + timedelta(days=rng.randint(3, 12)))
        self.said: list[Said] = []
        self.asked: list[_Asked] = []

    def write(self, name: str) -> Conversation:
        self._facts()
        self._events()
        self._kin()
        sessions, ids = lay_out(self.rng, self.theme, self.pair, self.days, self.said, self.chat)
        self.rng.shuffle(self.asked)
        asked_on = day_text(self.days[-1] + timedelta(days=self.rng.randint(2, 9)))
        questions = []
        for n, asked in enumerate(self.asked):
            evidence = tuple(
                tuple(Evidence(ids[id(s)], s.text, s.must, s.prompt) for s in group)
                for group in asked.evidence
            )
            questions.append(
                Question(
                    f"{name}-q{n:02d}",
                    asked.kind,
                    asked.text,
                    asked_on,
                    evidence,
                    tuple(asked.answers),
                    # What nobody ever said can only have been guessed.
                    (*asked.against, *self.values.get(asked.pool, ())),
                    self._rivals(asked),
                    asked.suffices,
                )
            )
        return Conversation(name, (self.pair[0], self.pair[1]), sessions, tuple(questions))

    def _rivals(self, asked: _Asked) -> tuple[str, ...]:
        """What was said of others and could be the answer."""
        own = {*asked.against, *(phrase for answer in asked.answers for phrase in answer)}
        return tuple(value for value in self.named.get(asked.pool, ()) if value not in own)

    # --- facts about the speakers -----------------------------------------------------------

    def _facts(self) -> None:
        one, other = self.pair
        unknown, both, *rest = self.topics
        self._unknown(self.rng.choice(self.pair), unknown)
        self._both(both)
        withdrawn, rest = rest[:2], rest
        pairs: list[tuple[str, Topic]] = [(self.rng.choice(self.pair), t) for t in withdrawn]
        left = [p for p in product((one, other), rest) if p not in pairs]
        self.rng.shuffle(left)
        for who, topic in pairs:
            self._forgotten(who, topic)
        kinds = ["updated"] * 4 + ["corrected"] * 2 + ["single"] * 4
        for n, (who, topic) in enumerate(left):
            kind = kinds[n] if n < len(kinds) else ""
            if kind == "updated":
                self._updated(who, topic)
            elif kind == "corrected":
                self._corrected(who, topic)
            else:
                self._single(who, topic, asked=bool(kind))

    def _single(self, who: str, topic: Topic, *, asked: bool) -> None:
        value = self._value(topic)
        said = self._tell(who, topic, value, self._times(self._mentions()))
        if asked:
            self._ask("single", self._wording(who, topic), [said], [(value,)], pool=topic.key)

    def _updated(self, who: str, topic: Topic) -> None:
        values = [self._value(topic) for _ in range(self.rng.choice((2, 2, 3)))]
        times = self._times(len(values))
        self._tell(who, topic, values[0], times[:1])
        wording = self._drawn(topic.changes, len(values) - 1)
        latest = [
            self._say(who, text.format(v=value), time, value)
            for text, value, time in zip(wording, values[1:], times[1:], strict=True)
        ][-1]
        self._ask(
            "updated",
            self._wording(who, topic),
            [[latest]],
            [(values[-1],)],
            against=tuple(values[:-1]),
            pool=topic.key,
        )

    def _corrected(self, who: str, topic: Topic) -> None:
        wrong, right = self._value(topic), self._value(topic)
        time = self.rng.uniform(0, self.count - 2)
        self._tell(who, topic, wrong, [time])
        text = self.rng.choice(topic.corrects).format(v=right)
        said = self._say(who, text, time + self.rng.uniform(0.2, 1.8), right)
        self._ask(
            "corrected",
            self._wording(who, topic),
            [[said]],
            [(right,)],
            against=(wrong,),
            pool=topic.key,
        )

    def _forgotten(self, who: str, topic: Topic) -> None:
        value = self._value(topic)
        told, withdrawn = self._times(2)
        self._tell(who, topic, value, [told])
        text = self.rng.choice(WITHDRAWALS).format(matter=topic.matter)
        said = self._say(who, text, withdrawn)
        self._ask(
            "forgotten", self._wording(who, topic), [[said]], [], against=(value,), pool=topic.key
        )

    def _unknown(self, who: str, topic: Topic) -> None:
        """Only the other speaker ever told it of themselves."""
        value = self._value(topic)
        self._tell(self._partner(who), topic, value, self._times(self._mentions()))
        self._ask("unknown", self._wording(who, topic), [], [], against=(value,), pool=topic.key)

    def _both(self, topic: Topic) -> None:
        values = [self._value(topic) for _ in self.pair]
        said = [
            self._tell(who, topic, value, self._times(self._mentions()))
            for who, value in zip(self.pair, values, strict=True)
        ]
        text = f"{self._wording(self.pair[0], topic)} And what about {self.pair[1]}?"
        self._ask("multi", text, said, [tuple(values)], pool=topic.key)

    # --- events and people ------------------------------------------------------------------

    def _events(self) -> None:
        pairs = [(who, event) for who in self.pair for event in self.theme.events]
        self.rng.shuffle(pairs)
        for n, (who, event) in enumerate(pairs[:8]):
            if n < 2:
                self._repeated(who, event)
            else:
                self._temporal(who, event, asked=n < 5)

    def _repeated(self, who: str, event: Event) -> None:
        ways = (*event.says, *event.late)
        often = self.rng.randint(1, len(ways))  # few would be as good as told
        wording = self._drawn(ways, often)
        said = []
        for text, time in zip(wording, self._times(often), strict=True):
            other = self.others.pop()
            said.append([self._say(who, text.format(v=other), time, other)])
        text = event.often.format(who=who)
        self._ask("repeated", text, said, [(f"{often}",), (f"{often} time{'s'[: often > 1]}",)])

    def _temporal(self, who: str, event: Event, *, asked: bool) -> None:
        other = self.others.pop()
        late = self.rng.random() < OTHERS_DAY
        text = self.rng.choice(event.late if late else event.says).format(v=other)
        said = self._say(who, text, self.rng.uniform(0, self.count), other)
        if asked:
            told = self.days[int(said.time)]
            answers: list[tuple[str, ...]] = [(day_text(told - timedelta(days=late)),)]
            if late:  # the day of telling and the word do as well
                answers.append((day_text(told), "yesterday"))
            question = event.when.format(who=who, v=other)
            self._ask("temporal", question, [[said]], answers, suffices=False)

    def _kin(self) -> None:
        relations = self.rng.sample(self.theme.relations, 4)
        kin = self.rng.sample(self.theme.kin, 2)
        for n, (who, fact) in enumerate(product(self.pair, kin)):
            self._relative(who, relations[n], fact, asked=n in (0, 3))

    def _relative(self, who: str, relation: str, fact: Kin, *, asked: bool) -> None:
        name = self.others.pop()
        self.values.setdefault(fact.key, self.rng.sample(fact.values, len(fact.values)))
        value = self._value(fact)
        met, told = self._times(2)
        introduction = self.rng.choice(INTRODUCTIONS).format(relation=relation, name=name)
        first = self._say(who, introduction, met, name)
        second = self._say(who, self.rng.choice(fact.says).format(name=name, v=value), told, value)
        if asked:
            text = fact.asks.format(who=who, relation=relation)
            self._ask("multi", text, [[first], [second]], [(value,)], pool=fact.key)

    # --- small parts ------------------------------------------------------------------------

    def _tell(self, who: str, topic: Topic, value: str, times: Sequence[float]) -> list[Said]:
        """The same fact, each time in other words."""
        told: list[Said] = []
        for text, time in zip(self._drawn(topic.says, len(times)), times, strict=True):
            if self.rng.random() < PROMPTED and not told:
                reply = self.rng.choice(topic.replies).format(v=value)
                prompt = self.rng.choice(topic.prompts)
                told.append(self._say(who, reply, time, value, prompt=prompt))
            else:
                told.append(self._say(who, text.format(v=value), time, value))
        return told

    def _say(self, who: str, text: str, time: float, *must: str, prompt: str = "") -> Said:
        said = Said(who, text[0].upper() + text[1:], time, must, prompt)
        self.said.append(said)
        return said

    def _ask(
        self,
        kind: str,
        text: str,
        evidence: list[list[Said]],
        answers: list[tuple[str, ...]],
        *,
        against: tuple[str, ...] = (),
        suffices: bool = True,
        pool: str = "",
    ) -> None:
        self.asked.append(_Asked(kind, text, pool, evidence, answers, against, suffices))

    def _value(self, topic: Topic | Kin) -> str:
        value = self.values[topic.key].pop()
        self.named.setdefault(topic.key, []).append(value)
        return value

    def _wording(self, who: str, topic: Topic) -> str:
        return self.rng.choice(topic.asks).format(who=who)

    def _partner(self, who: str) -> str:
        return self.pair[1 - self.pair.index(who)]

    def _mentions(self) -> int:
        return 2 if self.rng.random() < SAID_AGAIN else 1

    def _times(self, count: int) -> list[float]:
        """Moments in different sessions, in order; the whole part is the session's number."""
        return [n + self.rng.random() for n in sorted(self.rng.sample(range(self.count), count))]

    def _drawn(self, texts: Sequence[T], count: int) -> list[T]:
        return self.rng.sample(texts, count)
