"""A memory that lives on the steps of the episode it is asked in: where is something untried?

Written for `bench.asking`, for no domain in particular. Stores: what tells one situation from another
(the text or what can be done), and which kinds of actions bring anything new. Retrieves: while acting,
the shortest known way to the nearest situation with something untried that is worth a try.
"""

from collections import deque

from metamem.designs import Experience, Memory, Query, Tools, Wait, text

TEXT, ACTIONS = 0, 1


class Untried(Memory):
    """Remembers what kinds of actions bring news; tells the way to the nearest untried one."""

    PATIENCE = 3  # actions that brought nothing new before it wants to be asked
    NODES = 300  # situations looked at
    LONGEST = 12  # steps of a way that is told
    GOAL = 1.0  # what a word of the goal in an action is worth beside its kind's share of news
    FAR = 0.05  # what each step of the way costs

    def __init__(self, tools: Tools) -> None:
        super().__init__(tools)
        self.agreed = [0, 0]  # same situation, same action, same outcome, by how one looks at it
        self.done: dict[str, int] = {}
        self.news: dict[str, int] = {}

    async def update(self, experience: Experience) -> None:
        sights = [(experience.observation, experience.actions)]
        sights += [(step.observation, step.actions) for step in experience.steps]
        known = [{}, {}]
        seen = set(sights[0])
        for place, step in enumerate(experience.steps):
            for look in (TEXT, ACTIONS):
                key = (sights[place][look], step.action)
                after = sights[place + 1][look]
                if key in known[look]:
                    self.agreed[look] += 1 if known[look][key] == after else -1
                known[look][key] = after
            kind = text.first_word(step.action)
            self.done[kind] = self.done.get(kind, 0) + 1
            new = sights[place + 1][self._look()] not in seen
            self.news[kind] = self.news.get(kind, 0) + new
            seen.update(sights[place + 1])

    async def retrieve(self, query: Query):
        wait = Wait(stuck=self.PATIENCE)
        if not query.steps or not self.done:
            return "", wait
        way = self._way(query)
        return (text.numbered(way) if way else ""), wait

    def _way(self, query: Query) -> list[str]:
        look = self._look()
        sights = [(query.start, query.start_actions)]
        sights += [(step.observation, step.actions) for step in query.steps]
        leads: dict = {}
        possible: dict = {}
        for place, sight in enumerate(sights):
            possible[sight[look]] = sight[ACTIONS]
            if place < len(query.steps):
                action = query.steps[place].action
                if action not in sight[ACTIONS]:
                    return []  # actions are written, not chosen: nothing can be said of untried ones
                leads.setdefault(sight[look], {})[action] = sights[place + 1][look]
        goal = set(text.content_words(query.goal))
        here = sights[-1][look]
        best, worth = [], 0.0
        queue, met = deque([(here, [])]), {here}
        while queue and len(met) < self.NODES:
            at, way = queue.popleft()
            for action in possible[at]:
                if action in leads.get(at, {}):
                    after = leads[at][action]
                    if after not in met and len(way) < self.LONGEST:
                        met.add(after)
                        queue.append((after, [*way, action]))
                    continue
                value = self._value(action, goal) - self.FAR * len(way)
                if value > worth:
                    best, worth = [*way, action], value
        return best

    def _look(self) -> int:
        """What tells situations apart: that by which the same has led to the same most often."""
        return ACTIONS if self.agreed[ACTIONS] > self.agreed[TEXT] else TEXT

    def _value(self, action: str, goal: set[str]) -> float:
        kind = text.first_word(action)
        share = self.news.get(kind, 0) / (self.done.get(kind, 0) + 1)
        return share + self.GOAL * sum(word in goal for word in text.content_words(action))
