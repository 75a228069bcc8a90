"""Which ways of saying answer which questions, learned from other talks; the line that holds now is told.

Stores: every line with what it is about; of studied talks ways of saying, values, telling words, small talk.
Retrieves: of the person asked about, the line that first told what is true by now; all lines where a number
was right, the one with the name asked for, or the line naming another person and the line about them.
Forgets: what a line asks to forget, once studied talks showed how that is asked.
"""

import re
from collections import Counter, defaultdict
from difflib import SequenceMatcher
from functools import lru_cache

from metamem.designs import Experience, Memory, Query, Tools

SLOT = "*"


def words(line: str) -> list[str]:
    return re.findall(r"[\w*@]+(?:'[a-z]\b)?|[?]", line)


def stems(line: str) -> set[str]:
    return {w.lower().removesuffix("'s").removesuffix("s")[:5] for w in words(line) if len(w) > 2}


def names(line: str) -> list[str]:
    """Capitalised words that do not begin a sentence."""
    return re.findall(r"(?<![.!?:] )(?<!^)\b([A-Z]\w+)", line)


def likeness(a: str, b: str) -> float:
    return SequenceMatcher(None, words(a.lower()), words(b.lower())).ratio()


def bare(line: str) -> str:
    return " ".join(re.sub(r"[*@?]", " ", line).split())


def unlike(line: str, other: str) -> str:
    """The words that only the first line has."""
    return " ".join(w for w in words(line) if not stems(w) <= stems(other))


def masked(line: str, *values: str) -> str:
    for value in values:
        if value and value.lower() in line.lower():
            line = re.sub(rf"(?i)(?<![\w*]){re.escape(value)}(?!\w)", SLOT, line)
    return line


def holds(line: str, value: str) -> bool:
    return masked(line, value) != line


@lru_cache(4000)
def pattern(way: str) -> re.Pattern:
    return re.compile(re.escape(way).replace(re.escape(SLOT), "(.+?)"), re.I)


def said_as(way: str, line: str) -> re.Match | None:
    return (
        max(way.lower().split(SLOT), key=len) in line.lower()
        and pattern(way).fullmatch(line)
        or None
    )


class KindsOfLines(Memory):
    """Remembers which lines answer which questions, and tells the one that holds now."""

    ROUNDS = 2  # how often ways of saying find values and values find ways
    FEW = 3  # ways of saying from which a subject stands on its own
    ASKS = 0.5  # likeness from which a line asks to forget
    ABOUT = 1.0  # score from which a line said in a new way is about a subject,
    CLEAR = 0.2  # and by how much more than about the next one

    def __init__(self, tools: Tools) -> None:
        super().__init__(tools)
        self.lives: list = []  # of studied talks: what was said, what was asked
        self.lines: list[dict] = []
        self.topic: dict[str, str] = {}  # question without names: its subject
        self.mode: dict[str, str] = {}  # question without names: how it is answered
        self.ways: dict[str, str] = {}  # way of saying: subject
        self.values: dict[str, str] = {}  # value: subject
        self.asking: dict[str, str] = {}  # request to forget: subject
        self.weight: dict[str, dict[str, float]] = {}  # stem: subject: weight
        self.everywhere: set[str] = set()
        self.near = tools.vectors("ways")

    async def study(self, life) -> None:
        said = [(m.speaker, m.text) for e in life for m in e.messages]
        asked = [
            (e.goal, e.steps[-1].observation.split("\n"))
            for e in life
            if e.steps and not e.messages
        ]
        self.lives.append((said, asked))

    def _asked(self, goal: str, people: set[str]) -> tuple[list[str], str, list[str], str]:
        """The people asked about, the question without names, other names in it, whose relation."""
        who = [p for p in dict.fromkeys(re.findall(r"\w+", goal)) if p in people]
        first = re.split(r"(?<=[?]) ", goal)[0]
        others = [n for n in names(first) if n not in people]
        key = " ".join(
            "@" if w.removesuffix("'s") in people else SLOT if w in others else w
            for w in words(first)
        )
        owned = re.search(r"\w's (\w+)", first)
        return who, key, others, owned[1] if owned else ""

    def _learn(self) -> None:
        top: dict[str, str] = {}  # questions about the same thing have the same root
        ways: dict[tuple, str] = {}
        values: dict[str, str] = {}
        forget: list[tuple[str, str]] = []

        def root(x: str) -> str:
            while top.setdefault(x, x) != x:
                x = top[x]
            return x

        def claim(store: dict, thing, key: str) -> None:
            top[root(store.setdefault(thing, key))] = root(key)

        called = {n for said, _ in self.lives for _, t in said for n in names(t)}
        for said, asked in self.lives:
            for goal, (first, *gold) in asked:
                who, key, others, relation = self._asked(goal, {s for s, _ in said})
                right = first.partition(": ")[2]
                held = right.split(", ") if len(who) > 1 else [right]
                if len(gold) == len(held) and all(holds(g, v) for v, g in zip(held, gold)):
                    self.mode[key] = "last"
                    for v, g in zip(held, gold):
                        claim(values, v.lower(), key)
                        claim(ways, ("last", masked(g, v)), key)
                elif gold and (right.isdigit() or others):
                    self.mode[key] = "all" if right.isdigit() else "named"
                    for g in gold:
                        claim(
                            ways, ("event", masked(g, *(w for w in words(g) if w in called))), key
                        )
                elif len(gold) == 2:
                    key = masked(key, relation)
                    self.mode[key] = "through"
                    both = [n for n in sorted(called) if holds(gold[0], n) and holds(gold[1], n)]
                    claim(ways, ("through", masked(gold[1], right, *both)), key)
                else:
                    forget += [(g, key) for g in gold]
                root(key)
        # ways of saying find further values in studied talks, and values find further ways
        lines = list(dict.fromkeys(t for said, _ in self.lives for _, t in said))
        for _ in range(self.ROUNDS):
            for (kind, way), key in list(ways.items()):
                for m in filter(None, (said_as(way, t) for t in lines if kind == "last")):
                    claim(values, m[1].lower(), key)
            for value, key in list(values.items()):
                for way in (masked(t, value) for t in lines):
                    if way.count(SLOT) == 1 and len(words(way)) > 2:
                        claim(ways, ("last", way), key)
        self.ways = {w: k for (_, w), k in ways.items()}
        count = Counter(
            t for said, _ in self.lives for t in {masked(t, *{s for s, _ in said}) for _, t in said}
        )
        self.everywhere = {
            t for t, n in count.items() if 2 * n > len(self.lives) > 1 and not self._way(t)
        }
        # a subject with few ways joins the only other one that shares a rare word of a question
        kinds = {
            k: {"all": "event", "named": "event", "through": k}.get(self.mode.get(k, ""), "last")
            for k in top
        }
        size = Counter(root(k) for k in ways.values())
        shared = sorted(
            {s for k in top for s in stems(k)} - {s for t in self.everywhere for s in stems(t)}
        )
        for homes in [
            sorted({root(k) for t, k in [(k, k) for k in top] + forget if s in stems(t)})
            for s in shared
        ]:
            if (
                len(homes) == 2
                and kinds[homes[0]] == kinds[homes[1]]
                and min(size[h] for h in homes) < self.FEW
            ):
                top[root(homes[0])] = root(homes[1])
        self.topic = {k: root(k) for k in top}
        self.ways = {w: root(k) for w, k in self.ways.items()}
        self.values = {v: root(k) for v, k in values.items()}
        self.asking = {g: root(k) for g, k in forget}

    async def _weigh(self) -> None:
        """Which stems go with which subjects, less so those of lines about nothing known."""
        held = defaultdict(Counter)
        for store, n in ((self.topic, 3), (self.ways, 1)):
            for text, topic in store.items():
                await self.near.add(bare(text), topic)
                for s in stems(text):
                    held[s][topic] += n
        rest = {t for said, _ in self.lives for _, t in said if not self._way(t)} - set(self.asking)
        plain = Counter(s for t in rest for s in stems(t))
        for s, c in held.items():
            self.weight[s] = {t: min(1.0, n / 2) * n / (c.total() + plain[s]) for t, n in c.items()}

    def _way(self, line: str) -> str:
        return max((w for w in self.ways if said_as(w, line)), key=len, default="")

    async def _scores(self, line: str) -> Counter:
        """How much a line goes with each subject: the nearest in meaning, and words that go with it."""
        scores = Counter()
        for hit in await self.near.search(bare(line), k=1000):
            scores[hit.payload] = max(scores[hit.payload], hit.score)
        for s in sorted(stems(line)):
            for t, n in self.weight.get(s, {}).items():
                scores[t] += n
        return scores

    async def update(self, experience: Experience) -> None:
        if self.lives:
            self._learn()
            await self._weigh()
            self.lives = []
        for m in experience.messages:
            line = dict(
                time=m.time, who=m.speaker, text=m.text, about="", value="", forgets="", scores={}
            )
            await self._read(line, self.lines[-1] if self.lines else line)
            self.lines.append(line)

    async def _read(self, line: dict, before: dict) -> None:
        """What the line is about and which value it holds, or what it asks to forget."""
        text = line["text"]
        asks = max(self.asking, key=lambda g: likeness(text, g), default="")
        if way := self._way(text):
            line["about"], line["value"] = (
                self.ways[way],
                said_as(way, text)[1].lower() if SLOT in way else "",
            )
        elif asks and likeness(text, asks) >= self.ASKS:
            scores = (
                await self._scores(other)
                if (other := unlike(text, asks))
                else {self.asking[asks]: 1.0}
            )
            line["forgets"] = max(scores, key=scores.get, default="")
        elif value := next((v for v in self.values if holds(text, v)), ""):
            line["about"], line["value"] = self.values[value], value
        elif (
            not text.endswith("?")
            and masked(text, *{x["who"] for x in self.lines}) not in self.everywhere
        ):
            scores = await self._scores(text)
            if before["who"] != line["who"] and before["text"].endswith("?"):
                scores |= await self._scores(before["text"])
            line["scores"] = scores
            (best, most), (_, less) = [*scores.most_common(2), ("", 0.0), ("", 0.0)][:2]
            if most >= self.ABOUT and most - less >= self.CLEAR:
                line["about"] = best

    async def retrieve(self, query: Query) -> str:
        who, key, others, relation = self._asked(query.goal, {x["who"] for x in self.lines})
        topic, mode = self.topic.get(key, ""), self.mode.get(key, "")
        if not topic:
            near = max(
                self.mode, key=lambda k: likeness(key, k), default=""
            )  # the most alike known one
            scores = await self._scores(key) + await self._scores(unlike(key, near))
            topic, mode = max(scores, key=scores.get, default=""), self.mode.get(near, "")
        told = [
            x for person in who if topic for x in self._about(person, topic, mode, others, relation)
        ]
        return "\n".join(f"{x['time']}, {x['who']}: {x['text']}" for x in told)

    def _about(
        self, person: str, topic: str, mode: str, others: list[str], relation: str
    ) -> list[dict]:
        said = [x for x in self.lines if x["who"] == person]
        since = max((i for i, x in enumerate(said) if x["forgets"] == topic), default=0)
        found = [x for x in said[since:] if x["about"] == topic]
        loose = sorted(
            (x for x in said if x["scores"] and not x["about"]), key=lambda x: x["scores"][topic]
        )
        if mode == "named":
            return [x for x in loose + found if others and others[-1] in words(x["text"])][-1:]
        if mode == "through":
            for first in reversed(said):
                called = (
                    re.findall(r"[A-Z]\w+", first["text"])
                    if relation in words(first["text"])
                    else []
                )
                second = [
                    x
                    for x in loose + found
                    if x is not first and any(holds(x["text"], n) for n in called)
                ]
                if second:
                    return [first, second[-1]]
        if mode in ("all", "through"):
            return found if mode == "all" else []
        last = found[-1:]
        for x in reversed(found[:-1]):  # the line that first told the value that holds now
            if not any(
                v and holds(x["text"], v) and holds(last[0]["text"], v)
                for v in (x["value"], last[0]["value"])
            ):
                break
            last = [x]
        return last
