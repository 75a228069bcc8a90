"""Transcripts become evidence: what people and agents said, each line once, nothing that was rewound.
Of what a whole session tells for later, facts are made beside its lines."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from metamem.core.access import Scope
from metamem.core.errors import UnknownName, UsageError
from metamem.service.access.names import marked
from metamem.service.access.projects import PROJECT, project_of
from metamem.service.access.rights import LOCAL
from metamem.service.contract import Memories
from metamem.service.importing import claude, gemini, opencode
from metamem.service.importing.cleaning import learn, tool_call, without
from metamem.service.importing.items import bring
from metamem.service.importing.lessons import lessons, linked
from metamem.service.importing.places import ERASED, Places, excluded, standing
from metamem.service.importing.sources import Source, look
from metamem.service.importing.transcript import Line, Transcript
from metamem.service.words import Fact, Listing, Session, Turn
from metamem.service.writing.known import KnownSecrets

AT_ONCE = 200  # lines of one call of `ingest`
READ_AGAIN = 32_000_000  # bytes of a session that is read as a whole whenever it grows


@dataclass(frozen=True, slots=True)
class Kept:
    """What became of a transcript."""

    session: str
    scope: str = ""
    stored: int = 0
    known: int = 0  # that were kept before
    refused: int = 0
    rewound: int = 0
    damaged: int = 0
    calls: int = 0  # of tools, new or more known of them
    facts: int = 0  # that were made of it by rule, new or changed
    erased: int = 0  # lines that were kept once and then erased; they do not come back
    skipped: str = ""  # why nothing of it was kept


def scope_of(folder: str, tenant: str = LOCAL) -> Scope:
    """The scope of a project's folder, also of one that is no longer there."""
    try:
        return project_of(Path(folder), tenant).scope
    except UsageError:
        return Scope(tenant, PROJECT, marked(Path(folder).name, folder))


class Keeper:
    """Reads what is new in sources and keeps it."""

    def __init__(
        self, memories: Memories, places: Places, scope: Callable[[str], Scope] = scope_of
    ) -> None:
        self._memories, self._places, self._scope = memories, places, scope
        self._folders: list[str] | None = None

    def keep(self, source: Source) -> Kept:
        """Keep what is new in a source. Done again after a crash, it adds nothing twice: the place
        moves on only when all before it is kept, and lines that are kept are known by their ids."""
        with self._places.reading(source.host, source.key) as state:
            gone = frozenset(state.get(ERASED, ())) if state is not None else frozenset[str]()
            if state is not None and self._was_left_out(source):
                state = None
            found = look(source, state, self._known(source) if state is None else ())
            new = _but(found.transcript, gone)
            whole = new if state is None else None
            if whole is None and (new.lines or new.calls or new.rewound):
                whole = self._whole(source)
            secrets = KnownSecrets()
            if new.lines or new.calls:
                for each in (whole or new, *self._beside(source)):
                    learn(secrets, each)
            kept = self._keep(without(secrets, new))
            if kept.scope and whole is not None and (_own(new) or new.rewound):
                taught = without(secrets, _but(whole, gone))
                kept = replace(kept, facts=self._teach(kept.scope, taught))
            if kept.scope:  # lines before the place are not read again; they are known all the same
                fresh = {line.id for line in new.lines}
                stand = standing(found.state)
                before = sum(line not in fresh and line not in gone for line in stand)
                erased = sum(line in gone for line in stand)
                kept = replace(kept, known=kept.known + before, erased=erased)
            self._places.move(
                source.host, source.key, found.state, found.transcript.session, kept.scope
            )
        return kept

    def _was_left_out(self, source: Source) -> bool:
        """Whether a source was read while its project was left out, which it no longer is: then none of it
        is kept, though its place has moved on."""
        if self._places.scope(source.host, source.key):
            return False
        return not excluded(source.folder, self._places.exclusions())

    def _known(self, source: Source) -> list[str]:
        """Folders that a host's names may stand for; only one of them hides its folders so."""
        if self._folders is None and source.host == gemini.HOST:
            self._folders = self._places.folders()
        return self._folders or []

    def _keep(self, transcript: Transcript) -> Kept:
        session = transcript.session
        if not transcript.folder:
            return Kept(session, skipped="its project is not known")
        if excluded(transcript.folder, self._places.exclusions()):
            return Kept(session, skipped="its project is excluded")
        lines = _own(transcript)
        scope = str(self._scope(transcript.folder))
        stored = known = refused = 0
        for start in range(0, len(lines), AT_ONCE):
            part = lines[start : start + AT_ONCE]
            done = self._memories.ingest(scope, _session(transcript, part))
            stored, known = stored + done.stored, known + done.known
            refused += done.refused
        rewound = self._withdraw(scope, transcript) if transcript.rewound else 0
        calls = self._keep_calls(scope, transcript)
        return Kept(session, scope, stored, known, refused, rewound, transcript.damaged, calls)

    def _keep_calls(self, scope: str, transcript: Transcript) -> int:
        """What the agent and its sub-agents did with their tools."""
        calls = [tool_call(call) for call in transcript.calls]
        if not calls and not transcript.rewound:
            return 0
        done = self._memories.keep_calls(scope, _session(transcript, []), calls, transcript.rewound)
        return done.stored + done.joined

    def _whole(self, source: Source) -> Transcript | None:
        """All of a session, unless it is so long that reading it again and again takes too long."""
        if source.host != opencode.HOST and source.path.stat().st_size > READ_AGAIN:
            return None
        return look(source, None).transcript

    def _beside(self, source: Source) -> Iterator[Transcript]:
        """The other files of the same session, which may tell what is a secret in this one."""
        for path in claude.of_the_same(source.path) if source.host == claude.HOST else ():
            other = self._whole(Source(source.host, path))
            if other is not None:
                yield other

    def _teach(self, scope: str, whole: Transcript) -> int:
        """Make facts of a whole session by rule; those that it taught before are known again."""
        pieces, name = lessons(whole), f"lessons of {whole.host} {whole.session}"
        if pieces:
            turns: dict[str, tuple[str, ...]] = {}
            for fact in self._facts(scope, whole.session):
                turns[turn_of(fact)] = (*turns.get(turn_of(fact), ()), fact.id)
            pieces = linked(pieces, turns)
        elif not self._places.items(name, scope):
            return 0
        done = bring(self._memories, self._places, scope, name, pieces)
        return done.new + done.changed

    def _withdraw(self, scope: str, transcript: Transcript) -> int:
        """What the user took back is no evidence; it is archived, not lost."""
        gone, count = set(transcript.rewound), 0
        for fact in self._facts(scope, transcript.session):
            if turn_of(fact) in gone:
                self._memories.forget(fact.id, "the user went back before it")
                count += 1
        return count

    def _facts(self, scope: str, session: str) -> Iterator[Fact]:
        after = ""
        while True:
            listing = Listing(scopes=(scope,), session=session, after=after, limit=500)
            try:
                page = self._memories.browse(listing)
            except (UnknownName, UsageError):
                return  # nothing was kept of it
            yield from page.facts
            if not page.next:
                return
            after = page.next


def turn_of(fact: Fact) -> str:
    """The host's id of the line that a fact is."""
    return fact.origin.rpartition("#")[0]  # what follows is the number of its part


def _but(transcript: Transcript, gone: frozenset[str]) -> Transcript:
    """A transcript without lines that were erased, and what was done for them."""
    if not gone:
        return transcript
    lines = tuple(line for line in transcript.lines if line.id not in gone)
    calls = tuple(call for call in transcript.calls if call.prompt not in gone)
    return replace(transcript, lines=lines, calls=calls)


def _own(transcript: Transcript) -> list[Line]:
    """What was said in the session itself, not among sub-agents."""
    return [line for line in transcript.lines if not line.agent]


def _session(transcript: Transcript, lines: list[Line]) -> Session:
    return Session(
        transcript.session,
        tuple(
            Turn(
                "user" if line.speaker == "user" else transcript.host,
                line.text,
                line.speaker,
                line.at,
                line.id,
            )
            for line in lines
        ),
        transcript.host,
        transcript.title,
        transcript.started_at,
        transcript.ended_at,
    )
