"""Which kinds of action tend to work for goals like this one.

Stores: for each kind of action (the action without its numbers) how often it was tried and
changed what could be done or seen, and, for each word of a goal, in how many episodes with that
word it was used and how many of those were won.
Retrieves: the kinds of action that won episodes with the goal's words had more often than lost
ones, best first, those that name a word of the goal counting more; with their numbers.
Forgets: the order of actions, and everything about single things.
"""

from collections import Counter

from metamem.designs import Experience, Memory, Query, Tools, text


class ActionStatistics(Memory):
    """Remembers how often each kind of action worked, for each word of the goals."""

    MOST = 15  # kinds of action that are told
    PRIOR = 3.0  # episodes at the average rate that every kind starts with

    def __init__(self, tools: Tools) -> None:
        super().__init__(tools)
        self.tried: Counter[str] = Counter()
        self.effective: Counter[str] = Counter()
        self.used: Counter[tuple[str, str]] = Counter()  # (goal word, kind): episodes
        self.won: Counter[tuple[str, str]] = Counter()
        self.episodes: Counter[str] = Counter()  # goal word: episodes
        self.wins: Counter[str] = Counter()

    async def update(self, experience: Experience) -> None:
        observation, actions = experience.observation, experience.actions
        kinds = []
        for step in experience.steps:
            kind = text.kinds(step.action)
            kinds.append(kind)
            self.tried[kind] += 1
            if (step.observation, step.actions) != (observation, actions):
                self.effective[kind] += 1
            observation, actions = step.observation, step.actions
        success = experience.reward > 0
        for word in text.content_words(experience.goal):
            self.episodes[word] += 1
            self.wins[word] += success
            for kind in dict.fromkeys(kinds):
                self.used[word, kind] += 1
                self.won[word, kind] += success

    async def retrieve(self, query: Query) -> str:
        words = [w for w in text.content_words(query.goal) if w in self.episodes]
        merits = {kind: self._merit(kind, words) for kind in self.tried}
        best = sorted(merits, key=lambda kind: -merits[kind])[: self.MOST]
        lines = [self._line(kind, words) for kind in best if merits[kind] > 0]
        return "Actions that helped with such goals:\n" + "\n".join(lines) if lines else ""

    def _merit(self, kind: str, words: list[str]) -> float:
        """How much likelier a win is with this kind of action, summed over the goal's words."""
        merit = 0.0
        for word in words:
            average = self.wins[word] / self.episodes[word]
            used, won = self.used[word, kind], self.won[word, kind]
            merit += (won + self.PRIOR * average) / (used + self.PRIOR) - average
        named = sum(word in words for word in text.words(kind))
        return merit * (1 + named) * self.effective[kind] / self.tried[kind]

    def _line(self, kind: str, words: list[str]) -> str:
        used = max(self.used[word, kind] for word in words)
        won = max(self.won[word, kind] for word in words)
        return f"- {kind} (in {used} such episodes, {won} of them won)"
