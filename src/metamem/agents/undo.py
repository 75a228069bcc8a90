"""Which action would undo an earlier one, learned within one episode from the states it leads to.

A state is what may be done in it. Two actions on the same things are opposites when the second
leads back to the state before the first. Before that was ever seen, an action is suspected when
it names the same two or more things the other way round (to, not from) and became possible only
through the other.
"""

from metamem.agents.text import ActionText, read_action

State = tuple[str, ...]


class Reversals:
    def __init__(self, wanted: frozenset[str]) -> None:
        self._wanted = wanted
        self._opposite: dict[tuple[str, str], bool] = {}  # a pair of verbs: known or suspected
        self._proven: set[tuple[str, str]] = set()
        self._standing: dict[tuple[str, ...], dict[str, State]] = {}  # things → verb → state before
        self._holding: dict[str, tuple[str, ...]] = {}  # a thing → the things of its last action
        self._changed: set[str] = set()  # things that something else was done with meanwhile

    def undoes(self, action: ActionText) -> bool:
        """Would it undo something that still stands, there or elsewhere?"""
        things = action.same_things
        where = things if things in self._standing else self._holding.get(action.things[0])
        if where is None or len(where) != len(things):
            return False
        verbs = self._standing.get(where, ())
        if not any(self._opposite.get((verb, action.verb), False) for verb in verbs):
            return False
        if where == things and action.things[0] not in self._changed:
            return True
        # Elsewhere, or after a change, it is no mere undoing where the goal names the place.
        return any(self._wanted.isdisjoint(words) for words in action.thing_words[1:])

    def saw(self, before: State, name: str, after: State) -> None:
        """Learn from one step that was taken."""
        action = read_action(name)
        if not action.things:
            return
        first, things = action.things[0], action.same_things
        if before == after:
            if len(things) > 1:
                self._changed.add(first)
            return
        reversal = self.undoes(action)
        for verb, state in self._standing.get(things, {}).items():
            if verb != action.verb:
                if after == state:
                    self._opposite[verb, action.verb] = self._opposite[action.verb, verb] = True
                    self._proven.update(((verb, action.verb), (action.verb, verb)))
                    reversal = True
                elif (verb, action.verb) not in self._proven:
                    self._opposite[verb, action.verb] = False
        if reversal or len(things) > 1:
            held = self._holding.pop(first, None)
            if held is not None:
                self._standing.pop(held, None)
        if reversal:
            self._standing.pop(things, None)
            return  # doing it again reverses nothing that was meant
        self._changed.discard(first)
        self._standing.setdefault(things, {})[action.verb] = before
        if len(things) > 1:
            self._holding[first] = things
            self._suspect(before, action, after)

    def _suspect(self, before: State, action: ActionText, after: State) -> None:
        if not action.direction:
            return
        old = frozenset(before)
        for name in after:
            if name not in old:
                other = read_action(name)
                if other.direction == -action.direction and (
                    other.same_things == action.same_things
                ):
                    self._opposite.setdefault((action.verb, other.verb), True)
