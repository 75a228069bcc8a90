"""fit: a way as it can be gone from here; the first is the plainest.

`SHAPE` says what sort of ways they suit (see `think`).
"""

from metamem.designs import Query, text
from metamem.designs.blocks.thinker import Thinker
from metamem.designs.thinking.association import kin
from metamem.designs.thinking.frames import SLOT, fill, parse
from metamem.designs.thinking.voting import names_in


class AsThought(Thinker):
    """just so"""

    SHAPE = "whole moves"

    def fit(self, way: list[str], query: Query) -> list[str]:
        return way


class MadePossible(Thinker):
    """each step after what makes it possible at its place"""

    SHAPE = "open"

    def fit(self, way: list[str], query: Query) -> list[str]:
        told: list[str] = []
        for step in way:
            frame, named = parse(step)
            for action in [*self.reach(frame, named[-1] if named else ""), step]:
                if action not in told[-2:]:
                    told.append(action)
        return told


class SoSpelled(Thinker):
    """with what words of the goal ask for that the way lacks: an action spelled like them"""

    SHAPE = "open"

    def fit(self, way: list[str], query: Query) -> list[str]:
        uses = self.frames.uses
        verbs = {frame.split(" ")[0]: frame for frame, use in uses.items() if len(use.fillers) > 1}
        names = names_in(query.goal, self.things())
        for word in text.content_words(query.goal):
            verb = kin(word, verbs) if word not in names else ""
            if verb and names and way and not any(s.split(" ")[0] == verb for s in way):
                frame = verbs[verb]
                kind = uses[frame].fillers[1].most_common(1)[0][0]
                tool = next((p for p in self.here(query) if text.kinds(p) == kind), kind)
                about = [n for n, step in enumerate(way, 1) if names[0] in parse(step).fillers[:1]]
                at = about[0] if about else 1
                asked = [*self.reach(frame, tool), fill(frame, [names[0], tool, kind])]
                way = [*way[:at], *asked, *way[at:]]
        return way


class OnlyKnown(Thinker):
    """without steps of a sort that nobody ever saw"""

    SHAPE = "whole"

    def fit(self, way: list[str], query: Query) -> list[str]:
        return [step for step in way if parse(step).frame in self.frames.uses]


class NotDoneYet(Thinker):
    """without what was done already"""

    def fit(self, way: list[str], query: Query) -> list[str]:
        left = [text.kinds(step.action) for step in query.steps]
        told = []
        for step in way:
            if text.kinds(step) in left:
                left.remove(text.kinds(step))
            else:
                told.append(step)
        return told


class NothingOpen(Thinker):
    """only where nothing is left open"""

    SHAPE = "open"

    def fit(self, way: list[str], query: Query) -> list[str]:
        return [] if any(SLOT in step.split() for step in way) else way
