"""Whole plans made of frames, told for the likeliest places in turn."""

from metamem.designs import Experience, Memory, Query, Tools, text
from metamem.designs.thinking import phrasing
from metamem.designs.thinking.association import kin
from metamem.designs.thinking.effects import Effects
from metamem.designs.thinking.frames import SLOT, Frames, fill, grounded, parse
from metamem.designs.thinking.sightings import Sightings
from metamem.designs.thinking.voting import Ways, names_in, useful


class FramesAndPlaces(Memory):
    """Votes a whole plan over past successes and tells it for the likeliest places in turn."""

    PLACES = 14  # plans told

    def __init__(self, tools: Tools) -> None:
        super().__init__(tools)
        self.frames, self.effects, self.seen = Frames(), Effects(), Sightings()
        self.won: list[Experience] = []

    async def update(self, experience: Experience) -> None:
        self.frames.learn(experience)
        self.effects.learn(experience)
        self.seen.learn(experience)
        if experience.reward > 0:
            self.won.append(experience)

    async def retrieve(self, query: Query) -> str:
        known = {kind for use in self.frames.uses.values() for slot in use.fillers for kind in slot}
        names = names_in(query.goal, known)
        manner = [w for w in text.content_words(query.goal) if w not in names]
        ways = Ways()
        for past in self.won:
            own = names_in(past.goal, known)
            about = [w for w in text.content_words(past.goal) if w not in own]
            ways.add(own, useful(past, own), about)
        steps = [voted.pattern for voted in ways.vote(manner, names)]
        following = [*steps[1:], ""][: len(steps)]
        steps = [s for s, f in zip(steps, following, strict=True) if not self._leads(s, f)]
        steps = self._treated(steps, set(manner) - set(ways.nearest(manner, names)))
        here = list(dict.fromkeys(f for a in query.actions for f in parse(a).fillers))
        if not steps or not names or not here:
            return ""
        plans = []
        for turn in range(self.PLACES):
            plan: list[str] = []
            for step in steps:
                plan += [a for a in self._told(step, names, here, turn) if a not in plan[-2:]]
            plans.append(plan)
        return phrasing.in_turn(plans)

    def _treated(self, steps: list[str], words: set[str]) -> list[str]:
        """What words of the goal ask for that no past success shows: a frame spelled like them."""
        verbs = {f.split(" ")[0]: f for f, u in self.frames.uses.items() if len(u.fillers) > 1}
        for word in sorted(words):
            verb = kin(word, verbs)
            if verb and steps and not any(s.startswith(verb + " ") for s in steps):
                use = self.frames.uses[verbs[verb]]
                tool = use.fillers[1].most_common(1)[0][0]
                steps = [steps[0], fill(verbs[verb], ["<0>", tool]), *steps[1:]]
        return steps

    def _told(self, step: str, names: list[str], here: list[str], turn: int) -> list[str]:
        """A step with the names of this goal, after what makes it possible at its place."""
        frame, fillers = parse(step)
        named = [grounded(f, names) for f in fillers]
        places = [p for n in named[::-1] for p in here if text.kinds(p) == n]
        if not places:
            order = self.seen.order(named[0], here, lambda p: 1 + len(self._reach(frame, p)))
            places = order[turn : turn + 1]
        if not places:
            return []
        named = [places[0] if n in (SLOT, text.kinds(places[0])) else n for n in named]
        return [*self._reach(frame, places[0]), fill(frame, named)]

    def _leads(self, step: str, after: str) -> bool:
        frame = parse(step).frame
        return frame.count(SLOT) == 1 and frame in dict(self.effects.enablers(parse(after).frame))

    def _reach(self, frame: str, place: str) -> list[str]:
        kind = text.kinds(place)
        found = [f for f, _ in self.effects.enablers(frame) if f.count(SLOT) == 1]
        found = [f for f in found if kind in self.frames.uses[f].fillers[0]]
        found.sort(key=lambda f: -self.frames.uses[f].shown)
        return [fill(f, [place]) for f in found]
