"""think: what a mind learns of episodes, and the ways to a goal that it then sees.

`SHAPE` says what the ways are: `open` where places are left open and what leads to a step is left
out, `whole` where nothing is, `moves` where only order and number tell.
"""

from collections import Counter

from metamem.designs import Experience, Query, text
from metamem.designs.blocks.thinker import Thinker
from metamem.designs.thinking.association import Associations
from metamem.designs.thinking.atlas import Atlas
from metamem.designs.thinking.frames import SLOT, fill, grounded, parse
from metamem.designs.thinking.grid import GridModel
from metamem.designs.thinking.ground import way_to_odd
from metamem.designs.thinking.voting import Ways, names_in, useful


class VotedWay(Thinker):
    """the way that most past successes share, with the names of this goal"""

    SHAPE = "open"
    SHARED = 0.5

    def think_begin(self) -> list[Experience]:
        return []

    def think_learn(self, mind: list[Experience], experience: Experience) -> list[Experience]:
        return [*mind, experience] if experience.reward > 0 else mind

    def think(self, mind: list[Experience], query: Query) -> list[list[str]]:
        known, ways = self.things(), Ways()
        for past in mind:
            names = names_in(past.goal, known)
            about = [word for word in text.content_words(past.goal) if word not in names]
            ways.add(names, useful(past, names), about)
        names = names_in(query.goal, known)
        manner = [word for word in text.content_words(query.goal) if word not in names]
        steps = [step.pattern for step in ways.vote(manner, names, self.SHARED)]
        told = []
        for step, after in zip(steps, [*steps[1:], ""], strict=False):
            # A step that only makes the next one possible hangs on the place, and comes by itself.
            if parse(step).frame not in self.leads(parse(after).frame):
                told.append(grounded(step, names))
        return [told] if told else []


class OneWay(Thinker):
    """the ways of the successes with the nearest goals, with the names of this goal"""

    SHAPE = "whole"
    NEAREST = 3

    def think_begin(self) -> list[Experience]:
        return []

    def think_learn(self, mind: list[Experience], experience: Experience) -> list[Experience]:
        return [*mind, experience] if experience.reward > 0 else mind

    def think(self, mind: list[Experience], query: Query) -> list[list[str]]:
        known, wanted = self.things(), text.content_words(query.goal)
        ranked = sorted(mind, key=lambda e: -text.overlap(text.content_words(e.goal), wanted))
        found = []
        for past in ranked[: self.NEAREST]:
            pairs = text.substitutions(past.goal, query.goal)
            steps = useful(past, names_in(past.goal, known))
            found.append([text.substitute(step, pairs) for step in steps])
        return found


class PaidWay(Thinker):
    """what was done up to the last reward, without detours, in the episodes most like this one"""

    SHAPE = "whole"
    NEAREST = 3

    def think_begin(self) -> list[tuple[set[str], float, list[str]]]:
        return []

    def think_learn(
        self, mind: list[tuple[set[str], float, list[str]]], experience: Experience
    ) -> list[tuple[set[str], float, list[str]]]:
        paid, most = [0], 0.0
        for n, step in enumerate(experience.steps, 1):
            if step.reward > most:  # where rewards are of all so far, only a rise is news
                paid.append(n)
                most = step.reward
        if not most:
            return mind
        way: list[str] = []
        seen = [experience.observation]
        for step in experience.steps[: paid[-1]]:
            if step.observation in seen and step.reward <= 0:  # back where one was: a detour
                back = seen.index(step.observation)
                del way[back:], seen[back + 1 :]
                continue
            way.append(step.action)
            seen.append(step.observation)
        words = text.content_words(f"{experience.goal} {experience.observation}")
        return [*mind, (set(words), experience.reward, way)]

    def think(self, mind: list[tuple[set[str], float, list[str]]], query: Query) -> list[list[str]]:
        words = set(text.content_words(f"{query.goal} {query.observation}"))
        ranked = sorted(mind, key=lambda past: -text.overlap(past[0], words) - 0.1 * past[1])
        return [way for _, _, way in ranked[: self.NEAREST]]


class AskedFor(Thinker):
    """what goes with the words of the goal more often than chance, in its usual order"""

    SHAPE = "open"
    TIES = 5

    def think_begin(self) -> tuple[Associations, dict[str, list[float]]]:
        return Associations(), {}

    def think_learn(
        self, mind: tuple[Associations, dict[str, list[float]]], experience: Experience
    ) -> tuple[Associations, dict[str, list[float]]]:
        ties, order = mind
        frames, last = [], experience.actions
        for number, step in enumerate(experience.steps, 1):
            if step.actions != last:  # something came of it
                frame = parse(step.action).frame
                frames.append(frame)
                order.setdefault(frame, []).append(number / len(experience.steps))
            last = step.actions
        ties.add(text.content_words(experience.goal), frames, 1.0 + 4.0 * experience.reward)
        return ties, order

    def think(
        self, mind: tuple[Associations, dict[str, list[float]]], query: Query
    ) -> list[list[str]]:
        ties, order = mind
        names = names_in(query.goal, self.things())
        found = {tie.item for tie in ties.best(text.content_words(query.goal), self.TIES)}
        ranked = sorted(found, key=lambda f: (sum(order[f]) / len(order[f]), f))
        way = []
        for frame in ranked:
            fillers, left = [], list(names)
            for slot, _ in enumerate(self.frames.uses[frame].fillers):
                of_goal = slot in self.frames.goal_slots(frame, 0.3) and left
                fillers.append(left.pop(0) if of_goal else SLOT)
            way.append(fill(frame, fillers))
        return [way] if way else []


class Searched(Thinker):
    """the way that a search finds in a model of moving among things"""

    SHAPE = "moves"
    NODES = 2000
    MARGIN = 2

    def think_begin(self) -> GridModel:
        return GridModel()

    def think_learn(self, mind: GridModel, experience: Experience) -> GridModel:
        mind.learn(experience)
        return mind

    def think(self, mind: GridModel, query: Query) -> list[list[str]]:
        left = self.NODES
        for margin in (0, self.MARGIN):
            found = mind.plan(query.observation, left, margin)
            if found:
                return [list(found.actions)]
            left -= found.nodes
        return []


class StandsOut(Thinker):
    """the way to the nearest sign that stands out on a drawn map, where one has not been yet"""

    SHAPE = "moves"

    def think_begin(self) -> GridModel:
        return GridModel()

    def think_learn(self, mind: GridModel, experience: Experience) -> GridModel:
        mind.learn(experience)
        return mind

    def think(self, mind: GridModel, query: Query) -> list[list[str]]:
        way = way_to_odd(mind, query.observation, query.start, query.steps)
        return [way] if way else []


class NotYetTried(Thinker):
    """what could seldom be done at a start and was not done yet, what new lines speak of first"""

    SHAPE = "moves"
    SHARE = 0.3

    def think_begin(self) -> tuple[Counter[str], Counter[str], Counter[str]]:
        return Counter(), Counter(), Counter()

    def think_learn(
        self, mind: tuple[Counter[str], Counter[str], Counter[str]], experience: Experience
    ) -> tuple[Counter[str], Counter[str], Counter[str]]:
        starts, done, vain = mind
        starts.update(["", *experience.actions])
        possible = [experience.actions, *(step.actions for step in experience.steps)]
        for n, step in enumerate(experience.steps):
            led_back = n > 0 and possible[n + 1] == possible[n - 1] != possible[n]
            done[step.action] += 1
            vain[step.action] += led_back or (step.done and experience.reward <= 0)
        return mind

    def think(
        self, mind: tuple[Counter[str], Counter[str], Counter[str]], query: Query
    ) -> list[list[str]]:
        starts, done, vain = mind
        tried = {step.action for step in query.steps}
        rare = [
            action
            for action in query.actions
            if action not in tried
            and starts[action] < self.SHARE * starts[""]
            and vain[action] <= 0.5 * max(2, done[action])
        ]
        old = set(query.start.splitlines())
        lines = [line for line in query.observation.splitlines() if line not in old]
        told = text.content_words(f"{query.goal} {' '.join(lines)}")
        rare.sort(key=lambda action: -text.overlap(text.content_words(action), told))
        return [rare[:1]] if rare else []


class Mapped(Thinker):
    """the way on a map of this world to what matters, and what was read to be done there"""

    SHAPE = "whole"

    def think_begin(self) -> Atlas:
        return Atlas()

    def think_learn(self, mind: Atlas, experience: Experience) -> Atlas:
        mind.learn(experience)
        return mind

    def think(self, mind: Atlas, query: Query) -> list[list[str]]:
        way = mind.way(query.goal, query.observation, query.actions, query.steps)
        return [way] if way else []
