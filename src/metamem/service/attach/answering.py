"""What memory says at the start of a conversation and to a prompt, in the scopes of the folder."""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Lock

from metamem.core.access import Scope
from metamem.service.access.rights import LOCAL, os_user
from metamem.service.attach.asking import question
from metamem.service.attach.events import MOST, Kind, Said, answer, parsed
from metamem.service.importing.keeping import scope_of
from metamem.service.importing.places import Places, excluded
from metamem.service.recall.render import listed
from metamem.service.service import MemoryService
from metamem.service.words import Ask

BRIEFING_TOKENS = 1500
RECALL_TOKENS = 600
RECALLED = 5  # facts that are put to a prompt, at most
# What is put into a prompt unasked must be likelier to matter than what somebody asked for.
FLOOR = 0.15
SESSIONS = 500  # conversations whose facts are remembered
SPARE = 3  # more of them are asked for, as some are of this very conversation


class Told:
    """Which facts the running conversations were told, as far as this process knows."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._sessions: OrderedDict[str, set[str]] = OrderedDict()

    def begin(self, session: str, facts: Sequence[str]) -> None:
        """A conversation begins, or begins anew: what it was told before is forgotten there."""
        with self._lock:
            self._sessions[session] = set(facts)
            self._sessions.move_to_end(session)
            while len(self._sessions) > SESSIONS:
                self._sessions.popitem(last=False)

    def add(self, session: str, facts: Sequence[str]) -> None:
        if session:
            self.begin(session, [*self.of(session), *facts])

    def of(self, session: str) -> frozenset[str]:
        with self._lock:
            return frozenset(self._sessions.get(session, ()))


@dataclass(frozen=True, slots=True)
class Answer:
    """What a hook is to print, and what is to be noted once it has taken it."""

    data: bytes
    delivered: Callable[[], None] = lambda: None


class Answering:
    """Answers hooks, as the owner of the memories: only that person's processes are let in."""

    def __init__(self, service: MemoryService, places: Places) -> None:
        self._service, self._places = service, places
        self._told = Told()
        self._warmed: set[tuple[str, ...]] = set()
        self._memories = service.local()

    def answer(self, kind: Kind, host: str, data: bytes) -> Answer:
        said = parsed(host, kind, data)
        if not said.folder or excluded(said.folder, self._places.exclusions()):
            return Answer(b"")
        scopes = self._scopes(said.folder)
        if not scopes:
            return Answer(b"")
        known = bool(said.session) and self._places.briefed(host, said.session)
        # A session that began while the daemon was away gets its briefing with its first prompt.
        briefs = kind == "briefing" or (bool(said.session) and not known)
        briefing, begun = self._briefing(scopes) if briefs else ("", ())
        recalled, more = "", tuple[str, ...]()
        if kind == "recall":
            told = self._told.of(said.session) if not briefs else frozenset(begun)
            recalled, more = self._recall(said, scopes, told)
        both = "\n\n".join(part for part in (briefing, recalled) if part)
        if len(both) > MOST and briefing:
            both, more = briefing, ()

        def delivered() -> None:
            if briefs and said.session:
                self._places.note_briefed(host, said.session)
                self._told.begin(said.session, begun)
            self._told.add(said.session, more)
            if kind == "briefing":
                self._warm(scopes)

        return Answer(answer(said, both), delivered)

    def _warm(self, scopes: Sequence[str]) -> None:
        """Have ready what a first prompt needs: its hook waits for a moment only."""
        if tuple(scopes) not in self._warmed:
            self._warmed.add(tuple(scopes))
            self._memories.recall(Ask("what is known here", tuple(scopes), 1, 1, floor=1.0))

    def _briefing(self, scopes: Sequence[str]) -> tuple[str, tuple[str, ...]]:
        made = self._memories.briefing(scopes, BRIEFING_TOKENS)
        return made.text, made.facts

    def _recall(
        self, said: Said, scopes: Sequence[str], told: frozenset[str]
    ) -> tuple[str, tuple[str, ...]]:
        """What is new to the conversation: neither said nor told in it already."""
        query = question(said.prompt)
        if not query:
            return "", ()
        ask = Ask(
            query, tuple(scopes), RECALLED + SPARE, RECALL_TOKENS, floor=FLOOR, quarantined=False
        )
        found = self._memories.recall(ask)
        new = [
            item.fact
            for item in found.items
            if item.fact.id not in told and (not said.session or item.fact.session != said.session)
        ]
        shown = listed(new[:RECALLED], "recall", found.id, RECALL_TOKENS)
        return shown.text, tuple(new[place].id for place in shown.shown)

    def _scopes(self, folder: str) -> list[str]:
        """The project's scope and the user's own, as far as they are there."""
        wanted = [scope_of(folder), user_scope()]
        held = self._service.local_caller().reads
        return [str(scope) for scope in wanted if scope in held]


def user_scope() -> Scope:
    """What a person wants remembered in all projects."""
    return Scope(LOCAL, "user", os_user())
