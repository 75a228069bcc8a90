"""What studying other conversations is worth in dialogue: one small design, with and without it.

    python -m bench.dialogue_study [--split test] [--conversations 12] [--json]

The design tells the two lines that share most with the question. Where it studied, it leaves out
what was said in other conversations too, and knows which words of lines went with which words of
questions there. Without, it is the same design whose `study` is never called. Both are set beside
silence and the oracle.
"""

import argparse
import asyncio
import json
import sys

from bench.dialogue import figures, replies
from metamem.core.types import Design, Experience, Step
from metamem.designs.jailed import Jail
from metamem.domains.dialogue.domain import DialogueDomain
from metamem.domains.dialogue.world import DialogueWorld
from metamem.models import default_embedder

HEEDING = Design('''
from collections import Counter, defaultdict

from metamem.designs import Memory, text


class Heeding(Memory):
    """Lines of the one who is asked about, by words that went with the question's elsewhere."""

    TOLD = 2
    EVERYWHERE = 0.2  # of other conversations: what is said in so many is small talk

    def __init__(self, tools):
        super().__init__(tools)
        self.heard, self.lives = Counter(), 0  # in how many other conversations a line was said
        self.goes_with = defaultdict(Counter)  # word of a question: words of lines that answered
        self.asked, self.answered, self.questions = Counter(), Counter(), 0
        self.lines, self.often = [], Counter()

    async def study(self, life):
        self.lives += 1
        self.heard.update({m.text for e in life for m in e.messages})
        for episode in life:
            if not episode.messages:
                answered = set(text.content_words(episode.steps[-1].observation))
                self.questions += 1
                self.answered.update(answered)
                for word in set(text.content_words(episode.goal)):
                    self.asked[word] += 1
                    self.goes_with[word].update(answered)

    async def update(self, experience):
        for message in experience.messages:
            if self.heard[message.text] <= self.EVERYWHERE * self.lives:
                words = set(text.content_words(message.text))
                self.often.update(words)
                self.lines.append((message, words))

    async def retrieve(self, query):
        asked = set(text.content_words(query.goal))
        ranked = sorted(self.lines, key=lambda line: -self.worth(line, asked, query.goal))
        return "\\n".join(f"{m.time}, {m.speaker}: {m.text}" for m, _ in ranked[: self.TOLD])

    def worth(self, line, asked, goal):
        message, words = line
        if message.speaker not in goal:
            return 0.0
        went = sum(self.pull(q, w) for w in words for q in asked if self.goes_with[q][w] > 1)
        return sum(1 / self.often[w] for w in words & asked) + went

    def pull(self, asked, word):
        """How much oftener a word was in what answered where this word was asked."""
        usual = self.answered[word] / self.questions
        return max(0.0, self.goes_with[asked][word] / self.asked[asked] - usual)
''')


def life_of(domain: DialogueDomain, group: str) -> list[Experience]:
    """A conversation of train, then its questions as they go with no reply."""
    asked = []
    for task in domain.tasks("train"):
        if task.group == group:
            asked.append(_unanswered(domain.world(task, 0), task.goal))
    return [*domain.history(group), *asked]


def _unanswered(world: DialogueWorld, goal: str) -> Experience:
    seen, after = world.reset(), world.step("")
    step = Step("", after.text, (), after.reward, after.done)
    return Experience(goal, seen.text, (), (step,), after.reward)


async def measure(split: str, conversations: int) -> dict[str, dict[str, float]]:
    domain, embedder = DialogueDomain(train=max(1, conversations)), default_embedder()
    tasks = domain.tasks(split)
    groups = list(dict.fromkeys(t.group for t in domain.tasks("train")))[:conversations]
    lives = [life_of(domain, group) for group in groups]
    found = {"silence": figures(domain, tasks, dict.fromkeys((t.id for t in tasks), ""))}
    async with Jail() as jail:
        for name, studied in (("alone", []), ("studied", lives)):
            told = await replies(jail, domain, HEEDING, tasks, embedder, studied)
            found[name] = figures(domain, tasks, told)
    found["oracle"] = figures(domain, tasks, {t.id: domain.oracle(t) for t in tasks})
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--split", default="test")
    parser.add_argument("--conversations", type=int, default=12)
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    found = asyncio.run(measure(chosen.split, chosen.conversations))
    if chosen.json:
        print(json.dumps(found))
        return 0
    print(f"{chosen.split}, {chosen.conversations} conversations of train studied")
    for name, values in found.items():
        print(f"{name:10}", "  ".join(f"{k} {v:.3f}" for k, v in values.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
