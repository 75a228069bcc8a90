"""What each speaker said last on what is asked, found by a walk over words and what has them.

Stores: lines by speaker, each with the words of the question that it follows; from other talks, the same,
and questions with the lines that answered them; which openings ask for several lines; how lines are
worded after which nothing is to be told; what is said by everybody.
Retrieves: the latest line on it; all where several are asked for; of things of somebody, the line that
names one and what was said under that name; nothing where nothing fits or silence was asked for.
Forgets: nothing.
"""

import math
import re
from collections import Counter, defaultdict

from metamem.designs import Experience, Memory, Query, Tools, text


class LastSaid(Memory):
    """Remembers who said what last, and which words answer which words."""

    STEM = 5  # letters by which words are the same
    NEAR = 0.6  # share of the best score that is on the same matter
    HUSH = 7.0  # odds from which a line asks for silence
    STEPS = 3  # of the walk
    BACK = 0.3  # share of it that begins anew
    COMMON = 4  # speakers who say just the same, from which it says nothing
    STILL = 0.4  # the same share, for lines that ask for silence
    MANY = 0.2  # share of questions opened so that several lines answered, from which all are told
    TRUST = 3.0  # strength of the mean in how far a word asked is met in answers
    LEARNED = 0.4  # weight of questions known from other talks

    def __init__(self, tools: Tools) -> None:
        super().__init__(tools)
        self.lines: list[dict] = []
        self.plain: set[str] = set()
        self.voices: Counter = Counter()
        self.bags: list[tuple[str, list[str]]] = []
        self.asked: Counter = Counter()
        self.met: Counter = Counter()
        self.open: Counter = Counter()
        self.many: dict[str, list[bool]] = defaultdict(list)
        self.hush: list[Counter] = [Counter(), Counter()]

    # what was said

    def _stems(self, said: str) -> list[str]:
        return list(dict.fromkeys(w[: self.STEM] for w in text.content_words(said)))

    def _without(self, said: str, names) -> str:
        for name in names:
            said = re.sub(rf"\b{re.escape(name)}\b('s)?", "", said)
        return said

    def _read(self, lines, messages) -> None:
        for message in messages:
            words, before = self._stems(message.text), lines[-1] if lines else None
            line = {
                "who": message.speaker,
                "time": message.time,
                "text": message.text,
                "own": words,
            }
            if before and before["text"].endswith("?") and before["who"] != message.speaker:
                words = list(dict.fromkeys(words + before["own"]))
            line["words"] = words
            line["key"] = message.text
            lines.append(line)
            self.plain.update(re.findall(r"\b[a-z]\w*", message.text))

    def _said(self, lines) -> Counter:
        names = {line["who"] for line in lines}
        for line in lines:
            line["key"] = self._without(line["text"], names)
        return Counter(key for _, key in {(line["who"], line["key"]) for line in lines})

    async def update(self, experience: Experience) -> None:
        self._read(self.lines, experience.messages)

    # what other talks teach

    async def study(self, life) -> None:
        lines = []
        for episode in life:
            self._read(lines, episode.messages)
        self.voices.update(self._said(lines))
        for line in lines:
            self.bags.append((line["key"], line["words"]))
            self.hush[0].update(set(text.words(line["text"])))
            self.hush[0][""] += 1
        for episode in life:
            if not episode.messages and episode.steps:
                self._lesson(episode, lines)

    def _lesson(self, episode, lines) -> None:
        answer, *needed = episode.steps[-1].observation.split("\n")
        right = [line for line in lines if line["text"] in needed]
        asked = self._stems(self._without(episode.goal, {line["who"] for line in lines}))
        self.asked.update(asked + [""])
        if episode.reward > 0 and not episode.steps[-1].action:
            for said in needed:
                self.hush[1].update(set(text.words(said)))
                self.hush[1][""] += 1
                self.bags += [("", ["?" + w for w in asked] + line["words"]) for line in right]
        elif right:
            for opening in self._openings(episode.goal):
                self.many[opening].append(len(right) > 2)
            value, who = set(self._stems(answer.split(": ")[-1])), {line["who"] for line in right}
            if len(needed) == 1 and value:
                right += [
                    line
                    for line in lines
                    if line["who"] in who and value <= set(line["own"]) and line not in right
                ]
            self.met.update(w for w in asked if any(w in line["words"] for line in right))
            self.open.update(asked)
            for line in right:
                self.bags.append(("", ["?" + w for w in asked] + line["words"]))

    def _openings(self, goal: str) -> list[str]:
        words = text.words(goal)
        return [" ".join(words[:2]), *words[:1]]

    # what is told

    def _weights(self, asked, voices) -> dict[str, float]:
        """Where a walk from the words asked leads, from words to texts that have them and back."""
        bags = [
            b
            for k, b in self.bags + [(line["key"], line["words"]) for line in self.lines]
            if voices[k] < self.COMMON
        ]
        having = defaultdict(list)
        for i, bag in enumerate(bags):
            for w in bag:
                having[w].append(i)
        rare = {w: math.log(1 + len(bags) / len(ts)) for w, ts in having.items()}
        whole = [sum(rare[w] for w in bag) for bag in bags]
        mean = (sum(self.met.values()) + 1) / (sum(self.open.values()) + 1)
        start = {}
        for w in asked:
            telling = math.log(2 + self.asked[""] / (1 + self.asked[w]))
            if w in rare:
                trust = (self.met[w] + self.TRUST * mean) / (self.open[w] + self.TRUST)
                start[w] = rare[w] * telling * trust
            if "?" + w in rare:
                start["?" + w] = self.LEARNED * rare["?" + w] * telling
        total = sum(start.values()) or 1.0
        start = {w: x / total for w, x in start.items()}
        at = dict(start)
        for _ in range(self.STEPS):
            to = defaultdict(float)
            for w, x in at.items():
                share = x / len(having[w])
                for i in having[w]:
                    to[i] += share
            at = defaultdict(float, {w: self.BACK * x for w, x in start.items()})
            for i, x in to.items():
                for w in bags[i]:
                    at[w] += (1 - self.BACK) * x * rare[w] / whole[i]
        return {w: x / len(having[w]) * 1000 for w, x in at.items()}

    def _quiet(self, line) -> bool:
        odds, (said, quiet) = 0.0, self.hush
        for word in set(text.words(line["text"])):
            if said[word]:
                odds += math.log((quiet[word] / said[word] * said[""] + 1) / (quiet[""] + 1))
        return odds > self.HUSH

    async def retrieve(self, query: Query) -> str:
        names = {line["who"] for line in self.lines}
        voices = self.voices + self._said(self.lines)
        weight = self._weights(self._stems(self._without(query.goal, names)), voices)
        told = []
        for name in sorted(names, key=query.goal.find):
            if name in query.goal:
                own = [
                    (sum(weight.get(w, 0.0) for w in line["words"]), i, line)
                    for i, line in enumerate(self.lines)
                    if line["who"] == name
                    and not line["text"].endswith("?")
                    and voices[line["key"]] < self.COMMON
                ]
                told += self._about(name, query.goal, own)
        return "\n".join(", ".join([t["time"], t["who"] + ": " + t["text"]]) for t in told)

    def _about(self, name, goal, own) -> list[dict]:
        top = max([0.0] + [s for s, _, _ in own])
        if not top or any(self._quiet(line) for s, _, line in own if s >= self.STILL * top):
            return []
        if named := self._named(name, goal, own):
            return named
        known = [self.many[o] for o in self._openings(goal) if o in self.many]
        if known and sum(known[0]) > self.MANY * len(known[0]):
            return [line for s, _, line in own if s >= self.NEAR * top]
        return [line for s, _, line in own if s >= self.NEAR * top][-1:]

    def _named(self, name, goal, own) -> list[dict]:
        """Of something of somebody: the line that names it, and the best said under that name."""
        for of in re.findall(re.escape(name) + r"'s (\w+)", goal):
            for _, _, line in reversed(own):
                if of[: self.STEM] in line["own"]:
                    for called in re.findall(r"\b[A-Z]\w+", line["text"]):
                        under = [
                            o
                            for o in own
                            if o[2] is not line and re.search(rf"\b{called}\b", o[2]["text"])
                        ]
                        if under and called.lower() not in self.plain:
                            return [line, max(under, key=lambda o: o[0])[2]]
        return []
