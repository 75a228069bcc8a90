"""What memory says at the start of a conversation and to a prompt, and what advisers say beside it, in the
scopes of the folder."""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Lock

from metamem.core.access import Scope
from metamem.service.access.names import OWN
from metamem.service.access.rights import LOCAL, os_user
from metamem.service.attach.advising import SILENCE, Advice, Advisers
from metamem.service.attach.asking import question
from metamem.service.attach.beginnings import Beginnings
from metamem.service.attach.events import Event, PromptGiven
from metamem.service.attach.hidden import Hidden
from metamem.service.attach.hooked import MOST, Kind, answer, heard, kinds_of
from metamem.service.attach.tails import Tails
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
ADVICE = 2000  # characters that advisers need at most
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

    def knows(self, session: str) -> bool:
        with self._lock:
            return session in self._sessions

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

    def __init__(
        self,
        service: MemoryService,
        places: Places,
        beginnings: Beginnings,
        advisers: Advisers,
        hidden: Hidden,
    ) -> None:
        self._service, self._places, self._beginnings = service, places, beginnings
        self._advisers, self._hidden = advisers, hidden
        self._told, self._tails = Told(), Tails()
        self._warmed: set[tuple[str, ...]] = set()
        self._memories = service.local()

    def answer(self, asked: str, host: str, data: bytes) -> Answer:
        kinds, moment = kinds_of(asked)
        found = heard(host, moment, data)
        event = found.event
        if not event.folder or excluded(event.folder, self._places.exclusions()):
            return Answer(b"")
        self._hidden.heard(event.transcript)
        self._beginnings.note(host, event.session, event.folder)
        if moment in ("before", "after"):
            advice = self._advised(event)
            return Answer(answer(found.name, advice.text), advice.delivered)
        told, delivered = self._remembered(event, kinds)
        room = MOST - sum(len(part) + 2 for part in told)
        # Nobody is asked whose words would be cut: what is drawn to be told must be told.
        wanted = bool(kinds & {"start", "prompt"}) and room >= ADVICE
        advice = self._advised(event) if wanted else SILENCE
        if advice.text:
            told.insert(1, advice.text)

        def both() -> None:
            try:
                delivered()
            finally:
                advice.delivered()

        return Answer(answer(found.name, "\n\n".join(told)), both)

    def _remembered(
        self, event: Event, kinds: frozenset[Kind]
    ) -> tuple[list[str], Callable[[], None]]:
        """What memory has to say, and what is to be noted once it is told."""
        if not kinds & {"briefing", "recall"}:
            return [], lambda: None
        scopes = self._scopes(event.folder)
        if not scopes:
            return [], lambda: None
        known = bool(event.session) and self._was_briefed(event)
        # A session that began while the daemon was away gets its briefing with its first prompt.
        briefs = "briefing" in kinds or (bool(event.session) and not known)
        briefing, begun = self._briefing(scopes) if briefs else ("", ())
        recalled, more = "", tuple[str, ...]()
        if isinstance(event, PromptGiven):
            told = self._told.of(event.session) if not briefs else frozenset(begun)
            recalled, more = self._recall(event, scopes, told)
        if len(briefing) + len(recalled) + 2 > MOST and briefing:
            recalled, more = "", ()

        def delivered() -> None:
            if briefs and event.session:
                self._told.begin(event.session, begun)
            self._told.add(event.session, more)
            # Last, as it waits for whoever writes, and fails where the disk is full.
            if briefs and event.session:
                self._places.note_briefed(event.host, event.session)
            if "briefing" in kinds:
                self._warm(scopes)

        return [part for part in (briefing, recalled) if part], delivered

    def _was_briefed(self, event: Event) -> bool:
        return self._told.knows(event.session) or self._places.briefed(event.host, event.session)

    def _advised(self, event: Event) -> Advice:
        scope = scope_of(event.folder)
        return self._advisers.heard(scope, [*self._tails.ended(event), event])

    def _warm(self, scopes: Sequence[str]) -> None:
        """Have ready what a first prompt needs: its hook waits for a moment only."""
        if tuple(scopes) not in self._warmed:
            self._warmed.add(tuple(scopes))
            self._memories.recall(Ask("what is known here", tuple(scopes), 1, 1, floor=1.0))

    def _briefing(self, scopes: Sequence[str]) -> tuple[str, tuple[str, ...]]:
        made = self._memories.briefing(scopes, BRIEFING_TOKENS)
        return made.text, made.facts

    def _recall(
        self, event: PromptGiven, scopes: Sequence[str], told: frozenset[str]
    ) -> tuple[str, tuple[str, ...]]:
        """What is new to the conversation: neither said nor told in it already."""
        query = question(event.prompt)
        if not query:
            return "", ()
        ask = Ask(
            query, tuple(scopes), RECALLED + SPARE, RECALL_TOKENS, floor=FLOOR, quarantined=False
        )
        found = self._memories.recall(ask)
        new = [
            item.fact
            for item in found.items
            if item.fact.id not in told
            and (not event.session or item.fact.session != event.session)
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
    return Scope(LOCAL, OWN, os_user())
