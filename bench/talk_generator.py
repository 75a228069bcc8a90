"""Generated conversations to train and calibrate recall on: threads about subjects, in sessions.

They imitate how people talk: what a line is about often stands in the line before, answers follow
questions, both speakers touch the same subjects, much is small talk. Questions use other words than
the lines that answer them, ask of the wrong speaker at times, need several lines at times, and some
ask for what nobody said.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from bench.memory_talks import Asked, Spoken, Talk, milliseconds
from bench.talk_subjects import SLOTS, SUBJECTS, Slot, Subject
from metamem.core.ids import derive_seed
from metamem.core.terms import terms
from metamem.domains.dialogue import home
from metamem.domains.dialogue.smalltalk import CHAT_REPLIES, GOODBYES, GREETED, GREETINGS, REACTIONS
from metamem.domains.dialogue.topic import Topic, listed

TIMES = listed(
    "yesterday|last week|last Friday|two days ago|on Sunday|this morning|last month|last weekend"
    "|a few days ago|the other day|in June|the week before|last Tuesday|recently|today"
)
OPENS = listed(
    "I {past} {time}, it was something else!|Guess what, I {past} {time}.|So, {time} I {past}."
    "|Remember my idea? I {past} {time}.|Big news: I {past} {time}!|I {past} {time} and loved it."
    "|Not much new, except that I {past} {time}.|I {past} {time}, and I am still tired."
)
ECHOES = listed(
    "Wow, {s}! That sounds great, {other}.|{s}? Good for you!|I had no idea you were into {s}."
    "|That is so cool, {other}.|Oh nice!|You always surprise me, {other}.|Love that!"
    "|Wow, that's amazing, {other}!|I have always wanted to try {doing}.|Congrats, {other}!"
)
THANKS = listed(
    "Thanks, {other}! It means a lot.|Thank you! {doing} keeps me going.|Yeah, I am so happy."
    "|It really is special to me.|Thanks! I can tell you more some time.|Exactly, {other}."
    "|Right? I still think about the {s}.|I appreciate that, {other}."
)
COMMENTS = listed(
    "That makes sense.|I can imagine.|Good choice!|Oh wow.|You deserve it.|That is inspiring, {other}."
    "|Sounds like the {s} was worth it.|Keep it up!|I am proud of you.|Ha, fair enough."
    "|Lovely. {doing} must be good for you.|Nice, thanks for sharing, {other}.|That must be tough."
)
WHEN = listed(
    "When did it happen that {who} {past}?|When was {who}'s {s}?|On which date did {who} have the {s}?"
    "|When did {who} tell about the {s}?|When did {who} begin {doing}?"
)
BOTH = listed(
    "What do {a} and {b} have in common regarding the {s}?|Which experience with {s} do both share?"
)
MANY = listed(
    "What has {who} told about the {s}?|What are all the things {who} said about {doing}?"
    "|Which details of the {s} did {who} mention?"
)
FILLERS = listed(
    "It has been quite a ride.|Everyone should try {doing} at least once.|Life has been busy lately."
    "|I was not sure at first, but I am glad I went for it.|The weather played along, too."
    "|My friends keep asking me about the {s}.|It reminds me of my childhood."
    "|I took some pictures to remember it.|There is still so much to learn."
    "|I will never forget that day.|We laughed so much.|It gives me energy for the whole week."
    "|You know how much I care about such things.|I could talk about the {s} for hours."
    "|Sometimes small steps matter most.|I was so tired afterwards that I slept ten hours."
    "|The people there were really kind.|It helps me to relax after work."
    "|I want to keep {doing} no matter what.|It brought our family closer together."
    "|There were a few surprises on the way.|I am still figuring things out."
    "|It was a great way to spend time together.|Hope you are doing well, by the way."
    "|I can send you more photos if you like.|Nature always calms me down."
    "|It was so much fun for the kids.|That moment was really special to me."
)
CONNECTORS = listed("involving|together with|along with|while mentioning|besides|and")
IN_MONTH = listed("What did {who} do in {m}?|Which activity did {who} take up in {m}?")
YES_NO = listed(
    "Would {who} enjoy more {doing}?|Is {who} interested in the {s}?|Does {who} like {doing}?"
    "|Did {who} have a good time with the {s}?"
)
SYNONYMS = {
    "made": "created",
    "buy": "purchase",
    "bought": "purchased",
    "start": "begin",
    "get": "obtain",
    "feel": "react",
    "place": "location",
    "kids": "children",
    "advice": "suggestion",
    "enjoy": "like",
    "plans": "intentions",
    "find": "discover",
    "difficult": "hard",
    "study": "major in",
    "often": "regularly",
}


@dataclass(slots=True)
class _Line:
    who: str
    text: str


@dataclass(slots=True)
class _Open:
    """A question whose lines have no numbers yet."""

    text: str
    lines: list[_Line]
    kind: str


@dataclass(slots=True)
class _Book:
    sessions: list[list[_Line]] = field(default_factory=list)
    asked: list[_Open] = field(default_factory=list)


def generate(seed: int, number: int) -> Talk:
    """One conversation: a function of its seed and number."""
    return _Writer(random.Random(derive_seed("recall-talks", seed, number))).write(
        f"made-{seed}-{number}"
    )


class _Writer:
    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        theme = home.THEME  # the other one is for measuring
        self.a, self.b, *_ = rng.sample(theme.names, 2)
        self.theme = theme
        self.chat = theme.chat
        self.sessions = rng.randint(10, 30)
        self.subjects = rng.sample(SUBJECTS, rng.randint(16, 36))
        self.topics = rng.sample(theme.topics, min(len(theme.topics), 10))
        self.unused = [s for s in SUBJECTS if s not in self.subjects]
        self.book = _Book([[] for _ in range(self.sessions)])
        self.elliptic = rng.uniform(0.3, 0.95)  # how often details come as answers to questions
        self.paraphrase = rng.uniform(0.05, 0.45)
        self.wordy = rng.uniform(0.3, 1.3)
        self.dense = rng.uniform(0.3, 0.9)  # how often a line tells two things
        self.openings: list[_Line] = []
        self.slots: dict[Subject, set[Slot | None]] = {}  # what was told of each subject

    def write(self, name: str) -> Talk:
        rng = self.rng
        for session in self.book.sessions:
            one, two = rng.sample((self.a, self.b), 2)
            self._say(session, one, rng.choice(GREETINGS))
            self._say(session, two, rng.choice(GREETED))
        plan: list[tuple[Subject | Topic, str]] = []
        for subject in self.subjects:
            whose = rng.choice(((self.a,), (self.b,), (self.a, self.b), (self.a, self.a)))
            plan.extend((subject, who) for who in whose)
        plan.extend((topic, rng.choice((self.a, self.b))) for topic in self.topics)
        rng.shuffle(plan)
        for matter, who in plan:
            session = rng.choice(self.book.sessions)
            if isinstance(matter, Topic):
                self._topic(session, matter, who)
            else:
                self._thread(session, matter, who)
            if rng.random() < 0.4:
                self._chatter(session)
        for session in self.book.sessions:
            self._say(session, rng.choice((self.a, self.b)), rng.choice(GOODBYES))
        self._about_several()
        self._unknown()
        self._nearly_known()
        return self._numbered(name)

    def _thread(self, session: list[_Line], subject: Subject, who: str) -> None:
        rng, other = self.rng, self._partner(who)
        news = rng.choice(OPENS).format(past=subject.past, time=rng.choice(TIMES))
        opening = self._say(session, who, self._padded(news, subject, 0.6))
        self.openings.append(opening)
        if rng.random() < 0.25:
            opening.text += f" [image: a photo of {subject.pictures}]"
        if rng.random() < 0.5:
            self._ask(rng.choice(WHEN), subject, who, [opening], "temporal")
        slots: list[Slot | None] = [None, *rng.sample(SLOTS, rng.randint(1, 5))]
        rng.shuffle(slots)
        told = [opening]
        for slot in slots[: rng.randint(1, 5)]:
            prompt = subject.asks if slot is None else rng.choice(slot.prompts)
            value, reply = self._detail(subject, slot)
            self.slots.setdefault(subject, set()).add(slot)
            if rng.random() < self.elliptic:
                lead = self._filled(rng.choice(ECHOES), subject, who) if rng.random() < 0.7 else ""
                self._say(session, other, f"{self._padded(lead, subject, 0.4)} {prompt}".strip())
            else:
                comment = self._filled(rng.choice(COMMENTS), subject, who)
                self._say(session, other, self._padded(comment, subject, 0.5))
                reply = f"About the {subject.noun}: {reply}"
            second: tuple[Slot, str] | None = None
            if rng.random() < self.dense:
                added = rng.choice(SLOTS)
                if added is not slot:
                    self.slots[subject].add(added)
                    more, also = self._detail(subject, added)
                    second, reply = (added, more), f"{reply} {also}"
            if rng.random() < 0.5:
                thanks = self._filled(rng.choice(THANKS), subject, other)
                reply = f"{thanks} {reply}" if rng.random() < 0.6 else f"{reply} {thanks}"
            line = self._say(session, who, self._padded(reply, subject, 0.6))
            if rng.random() < 0.12:
                line.text += f" [image: a photo of {subject.pictures}]"
            told.append(line)
            if rng.random() < 0.65:
                asks = subject.questions if slot is None else slot.questions
                kind = "single" if slot is None else slot.kind
                context = second[1] if second else ""
                self._ask(rng.choice(asks), subject, who, [line], kind, context)
            if second and rng.random() < 0.5:
                slot_2, _ = second
                self._ask(rng.choice(slot_2.questions), subject, who, [line], slot_2.kind, value)
        if rng.random() < 0.1:
            self._ask(rng.choice(YES_NO), subject, who, told[:2], "open")
        if rng.random() < 0.15 and len(told) > 2:
            self._ask(rng.choice(MANY), subject, who, told, "multi")
        if rng.random() < 0.6:
            self._say(session, other, self._filled(rng.choice(COMMENTS), subject, who))
        if rng.random() < 0.3:
            self._say(session, who, self._filled(rng.choice(THANKS), subject, other))

    def _detail(self, subject: Subject, slot: Slot | None) -> tuple[str, str]:
        """A value and the sentence that tells it."""
        value = self.rng.choice(subject.things if slot is None else slot.values)
        replies = subject.tells if slot is None else slot.replies
        return value, _upper(self.rng.choice(replies).format(v=value))

    def _padded(self, text: str, subject: Subject, chance: float) -> str:
        """With sentences before and after that tell little."""
        while self.rng.random() < chance * self.wordy:
            filler = self._filled(self.rng.choice(FILLERS), subject, "")
            text = f"{filler} {text}" if self.rng.random() < 0.4 else f"{text} {filler}"
        return text

    def _topic(self, session: list[_Line], topic: Topic, who: str) -> None:
        rng, value = self.rng, self.rng.choice(topic.values)
        if rng.random() < self.elliptic:
            self._say(session, self._partner(who), rng.choice(topic.prompts))
            line = self._say(session, who, _upper(rng.choice(topic.replies).format(v=value)))
        else:
            line = self._say(session, who, _upper(rng.choice(topic.says).format(v=value)))
        if rng.random() < 0.6:
            self._say(session, self._partner(who), rng.choice(REACTIONS))
        asked = rng.choice(topic.asks).format(who=who)
        self.book.asked.append(_Open(asked, [line], "single"))

    def _chatter(self, session: list[_Line]) -> None:
        one, two = self.rng.sample((self.a, self.b), 2)
        self._say(session, one, self.rng.choice(self.chat))
        self._say(session, two, self.rng.choice(CHAT_REPLIES))

    def _about_several(self) -> None:
        """Questions that need a line of each speaker."""
        openings: dict[str, dict[str, list[_Line]]] = {}
        for asked in self.book.asked:
            for subject in self.subjects:
                for line in asked.lines[:1]:
                    if subject.past in line.text:
                        openings.setdefault(subject.noun, {}).setdefault(line.who, []).append(line)
        for noun, by in openings.items():
            if len(by) == 2:
                text = self.rng.choice(BOTH).format(a=self.a, b=self.b, s=noun)
                lines = list({id(x): x for said in by.values() for x in said}.values())
                self.book.asked.append(_Open(text, lines, "multi"))

    def _unknown(self) -> None:
        """About subjects that never came up."""
        for subject in self.unused[:8]:
            slot = self.rng.choice(SLOTS)
            for text in (self.rng.choice(subject.questions), self.rng.choice(slot.questions)):
                self._ask(text, subject, self.rng.choice((self.a, self.b)), [], "unknown")

    def _nearly_known(self) -> None:
        """About somebody whom nobody spoke of; about what was not told of a subject that came up."""
        strangers = [n for n in self.theme.names if n not in (self.a, self.b)]
        for subject, told in list(self.slots.items())[:8]:
            slot = self.rng.choice(SLOTS)
            text = self.rng.choice((*subject.questions, *slot.questions))
            self._ask(text, subject, self.rng.choice(strangers), [], "stranger")
            untold = [each for each in SLOTS if each not in told]
            if untold:
                text = self.rng.choice(self.rng.choice(untold).questions)
                self._ask(text, subject, self.rng.choice((self.a, self.b)), [], "untold")

    def _ask(
        self,
        text: str,
        subject: Subject,
        who: str,
        lines: list[_Line],
        kind: str,
        context: str = "",
    ) -> None:
        rng = self.rng
        name = subject.noun
        if rng.random() < self.paraphrase:
            name = rng.choice(subject.asked_as)
        asked = text.format(who=who, s=name, doing=subject.doing, past=subject.past)
        if context and rng.random() < 0.6:  # names another thing that the same line tells
            known = context.replace("my ", f"{who}'s ")
            asked = f"{asked.rstrip('?')} {rng.choice(CONNECTORS)} {known}?"
        if rng.random() < self.paraphrase:
            asked = " ".join(SYNONYMS.get(word, word) for word in asked.split())
        if lines and rng.random() < 0.15:  # asks of one speaker what the other told
            asked, kind = asked.replace(who, self._partner(who)), "adversarial"
        self.book.asked.append(_Open(asked, lines, kind))

    def _filled(self, text: str, subject: Subject, other: str) -> str:
        return _upper(text.format(s=subject.noun, doing=subject.doing, other=other))

    def _say(self, session: list[_Line], who: str, text: str) -> _Line:
        if "{other}" in text:
            text = text.format(other=self._partner(who))
        line = _Line(who, text)
        session.append(line)
        return line

    def _partner(self, who: str) -> str:
        return self.b if who == self.a else self.a

    def _numbered(self, name: str) -> Talk:
        rng = self.rng
        day = datetime(rng.randint(2019, 2025), rng.randint(1, 12), rng.randint(1, 28), 18)
        lines: list[Spoken] = []
        place: dict[int, int] = {}
        for number, session in enumerate(self.book.sessions):
            for line in session:
                place[id(line)] = len(lines)
                lines.append(Spoken(line.who, line.text, number, milliseconds(day)))
            day += timedelta(days=rng.randint(2, 20))
        now = milliseconds(day)
        for who in (self.a, self.b):
            self._of_months(who, lines, place)
        questions = [
            Asked(o.text, frozenset(place[id(line)] for line in o.lines), o.kind, now)
            for o in self.book.asked
        ]
        rng.shuffle(questions)
        return Talk(name, tuple(lines), tuple(questions))

    def _of_months(self, who: str, lines: Sequence[Spoken], place: Mapping[int, int]) -> None:
        """What somebody told of in one month."""
        by: dict[str, list[_Line]] = {}
        for line in self.openings:
            if line.who == who:
                said = datetime.fromtimestamp(lines[place[id(line)]].said_at / 1000, UTC)
                by.setdefault(f"{said:%B %Y}", []).append(line)
        for month, told in self.rng.sample(sorted(by.items()), min(2, len(by))):
            text = self.rng.choice(IN_MONTH).format(who=who, m=month)
            self.book.asked.append(_Open(text, told, "temporal"))


def flat(talk: Talk) -> Talk:
    """The same lines as facts that one agent wrote: no sessions, the speaker named in the text.

    Only questions stay whose evidence can be known by itself: it shares a word with the question.
    """
    lines = tuple(
        replace(line, author="agent", session=-1, text=f"{line.author}: {line.text}")
        for line in talk.lines
    )
    names = {term for line in talk.lines for term in terms(line.author)}
    questions = tuple(
        asked
        for asked in talk.questions
        if all(
            terms(asked.text).keys() & terms(lines[n].text).keys() - names for n in asked.evidence
        )
    )
    return replace(talk, name=f"{talk.name}-flat", lines=lines, questions=questions)


def talks(seed: int, count: int) -> Sequence[Talk]:
    return [generate(seed, number) for number in range(count)]


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]
