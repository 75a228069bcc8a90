"""From a question to an answer: the scopes that a caller may read, the best facts of each, ranked
together, cut to the budget, told with their reasons."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from threading import Lock
from typing import Any

from metamem.core.access import Caller
from metamem.service import facts
from metamem.service.database import Database, new_id, now_ms
from metamem.service.recall import briefing, use
from metamem.service.recall.asked_times import Dated, asked
from metamem.service.recall.background import Background, keep_snapshot
from metamem.service.recall.corrections import corrected_first
from metamem.service.recall.dated import of_time
from metamem.service.recall.embedding import (
    Identity,
    LocalEmbedder,
    in_use,
    terms_are_current,
    word_vectors,
)
from metamem.service.recall.index import MOST_BYTES, Index, Look
from metamem.service.recall.indexing import Indexer, Progress, What, waiting
from metamem.service.recall.question import Question, parse
from metamem.service.recall.ranker import Ranker
from metamem.service.recall.reading import Reader
from metamem.service.recall.render import listed
from metamem.service.recall.repeats import without_repeats
from metamem.service.recall.scoring import Asked, Scored, Scorer
from metamem.service.recall.snapshots import LARGE
from metamem.service.recall.stopwatch import Stopwatch
from metamem.service.recall.wanted import LONGEST, check, essence
from metamem.service.sight import Sight, inhabited, sight
from metamem.service.words import Ask, Briefing, Fact, Recall, Recalled, Verdict
from metamem.service.writing.fields import NAME, REASON, Fields
from metamem.store.engine import Execute

SPARE = 2  # times the limit: candidates of each scope, as some repeat others

OTHER_EMBEDDER = "meaning is not compared: the kept vectors are of another embedder; run reindex"
OTHER_TERMS = "the index of terms was made by other rules; run reindex"
STILL_COLD = "meaning was compared only for facts that share terms: vectors are being read"
TOO_LONG = f"of the question only {LONGEST} characters were looked at, those at its ends"
OF_TIME = "asked for a time, {time} (UTC); facts of it: {count}, the most important first"
NONE_OF_TIME = "nothing{sort} is kept {time} (UTC)"
NO_ROOM = "{} more would have been relevant, but exceed the budget of tokens"


@dataclass(frozen=True, slots=True)
class _Answer:
    """What is shown, the best first, and how it came about."""

    shown: list[tuple[Scored, Fact]]
    why: Callable[[Scored], dict[str, Any]]
    notes: tuple[str, ...]
    lag: int = 0  # facts whose vectors are still to be made


class Recaller:
    """Recalls from scopes that a caller may read, and keeps what came of it.

    With `background=False` nothing is done behind the caller's back but recording: vectors are made
    by `embed_waiting` alone.
    """

    def __init__(
        self,
        database: Database,
        embedder_name: str = "auto",
        *,
        index_bytes: int = MOST_BYTES,
        background: bool = True,
    ) -> None:
        self._database = database
        self._embedder = LocalEmbedder(embedder_name)
        self._indexer = Indexer(database, self._embedder)
        self._index = Index(index_bytes)
        self._background = Background(database, self._indexer, self._index) if background else None
        self._recorder = use.Recorder(database)
        self._ranker = Ranker.load()
        self._scorer: Scorer | None = None
        self._lock = Lock()

    def recall(self, caller: Caller, ask: Ask) -> Recall:
        check(ask)
        watch = Stopwatch()
        now = now_ms() if ask.now is None else ask.now
        with self._database.reading() as execute:
            with watch("index"):
                view = inhabited(execute, sight(execute, caller, "read", ask.scopes))
            found = self._found(execute, view, ask, now, watch)
            notes = list(found.notes)
            if len(ask.query) > LONGEST:
                notes.append(TOO_LONG)
        with watch("explain"):
            explained = [(each, fact, found.why(each)) for each, fact in found.shown]
        return self._answer(caller, ask, view, explained, found.lag, notes, watch)

    def _found(
        self, execute: Execute, view: Sight, ask: Ask, now: int, watch: Stopwatch
    ) -> _Answer:
        """By the words of a question; where it asks for nothing but a time, what is of that time."""
        told = essence(ask.query)
        limited = ask.since is not None or ask.until is not None
        dated = asked(told, now, limited=limited)
        if dated is None:
            return self._relevant(execute, view, ask, parse(told, now), watch)
        then = self._of_time(execute, view, ask, dated, watch)
        # A name may be nobody's, and what somebody did may be told by others: words come first there.
        if then.shown and (dated.by_saying or not dated.speaker):
            return then
        if not dated.types and not dated.speaker:
            return then
        fitting = self._relevant(execute, view, ask, parse(told, now), watch)
        if dated.speaker:
            return then if then.shown and not fitting.shown else fitting
        return replace(fitting, notes=(*then.notes, *fitting.notes))

    def _relevant(
        self, execute: Execute, view: Sight, ask: Ask, question: Question, watch: Stopwatch
    ) -> _Answer:
        """The facts that fit the words of a question."""
        self._embedder.load_soon()
        with watch("index"):
            identity = in_use(execute)
            looks = [
                self._index.look(execute, scope, question.terms, identity) for scope in view.scopes
            ]
        with watch("embed"):
            ours = identity if self._is_ours(identity) else None
            vector = self._embedder.one(question.meaning) if ours else None
            scorer = self._scoring()
        wanted = Asked(ask, question, vector, ours)
        scored: list[Scored] = []
        for look in looks:
            scored += scorer.score(execute, look, wanted, ask.limit * SPARE, watch)
        scored.sort(key=lambda each: -each.score)
        shown, corrects = _shown(execute, view, ask, scored, watch)
        return _Answer(
            shown,
            lambda each: scorer.why(each) | _corrects(corrects.get(each.number, "")),
            tuple(self._notes(execute, looks, identity, ours)),
            self._lag(execute, looks, identity),
        )

    def _of_time(
        self, execute: Execute, view: Sight, ask: Ask, dated: Dated, watch: Stopwatch
    ) -> _Answer:
        """The facts of a time, whatever their words."""
        with watch("time"):
            found = of_time(execute, view, ask, dated, ask.limit * SPARE)
        inside = {each.number for each in found.scored}
        shown, corrects = _shown(execute, view, ask, found.scored, watch)
        sort = " of that sort" if dated.types or ask.types or ask.speaker else ""
        note = OF_TIME if shown else NONE_OF_TIME

        def why(each: Scored) -> dict[str, Any]:
            parts: dict[str, Any] = {}
            if each.number in inside:  # else it corrects one that is
                parts = {
                    "time": found.words,
                    "importance": round(each.by_importance, 4),
                    "trust": round(each.by_trust, 4),
                }
            return parts | _corrects(corrects.get(each.number, ""))

        told = note.format(time=found.words, count=found.count, sort=sort)
        return _Answer(shown, why, (told,))

    def briefing(self, caller: Caller, scopes: Sequence[str] = (), tokens: int = 1500) -> Briefing:
        """What a new conversation should begin with."""
        now = now_ms()
        with self._database.reading() as execute:
            view = inhabited(execute, sight(execute, caller, "read", scopes))
            looks = [self._index.look(execute, scope, (), None) for scope in view.scopes]
            made, numbers = briefing.made(execute, view, looks, tokens, new_id("r"), now)
        items = tuple(use.ShownItem(n, rank, 0.0, {}) for rank, n in enumerate(numbers, 1))
        if items:
            self._record(made.id, caller, "briefing", "", {"tokens": tokens}, view, items, now)
        return made

    def feedback(
        self, caller: Caller, recall: str, fact: str, verdict: Verdict, note: str = ""
    ) -> None:
        """Whether a fact that a recall showed was of use. The latest word counts."""
        self._recorder.flush()
        with self._database.writing() as execute:
            use.give_feedback(execute, caller, recall, fact, verdict, Fields().text(note, REASON))

    def why(self, caller: Caller, subject: str) -> dict[str, Any]:
        """Why a recall showed what it did (ids that begin with r), or why a fact is as it is."""
        self._recorder.flush()
        with self._database.reading() as execute:
            if subject.startswith("r"):
                return use.why_recall(execute, caller, subject)
            return use.why_fact(execute, caller, subject)

    def written(self) -> None:
        """Facts were written: their vectors can be made now."""
        if self._background is not None:
            self._background.embed()

    def embed_waiting(self) -> Progress:
        """Make all vectors that are missing, here and now."""
        done = self._indexer.run()
        self._keep_snapshots()
        return done

    def reindex(self, what: What = "all") -> Progress:
        """Make indexes anew that other rules or another embedder made. Recall goes on meanwhile;
        one that was stopped goes on where it was when it is called again."""
        self._indexer.reindex(what)
        return self.embed_waiting()

    def flush(self) -> None:
        self._recorder.flush()

    def forget_caches(self) -> None:
        """Hold nothing of any scope in memory."""
        self._index.drop()

    def metrics(self) -> dict[str, int]:
        return {
            "recalls_recorded": self._recorder.recorded,
            "recalls_not_recorded": self._recorder.dropped,
            "facts_embedded": self._indexer.embedded,
            "index_bytes": self._index.bytes,
        }

    def close(self) -> None:
        if self._background is not None:
            self._background.close()
        self._recorder.close()

    def _keep_snapshots(self) -> None:
        """Of large scopes, so that processes that begin can answer at once."""
        with self._database.reading() as execute:
            large = execute(
                "SELECT scope FROM facts WHERE lifecycle = 'active' GROUP BY scope"
                " HAVING COUNT(*) >= ?",
                (LARGE,),
            )
            for (scope,) in large:
                self._index.look(execute, scope, (), None)
        for (scope,) in large:
            keep_snapshot(self._database, self._index, scope)

    def _scoring(self) -> Scorer:
        with self._lock:
            if self._scorer is None:
                self._scorer = Scorer(Reader(word_vectors()), self._ranker)
            return self._scorer

    def _is_ours(self, identity: Identity | None) -> bool:
        return identity is not None and identity.fingerprint == self._embedder.get().fingerprint

    def _lag(self, execute: Execute, looks: list[Look], identity: Identity | None) -> int:
        lag = 0
        for look in looks:
            if look.waiting is not None:
                lag += look.waiting
                continue
            lag += waiting(execute, look.scope)
            if identity is not None and look.catalog.count and self._background is not None:
                self._background.warm(look.scope, identity)
        if lag or identity is None:
            self.written()
        return lag

    def _notes(
        self, execute: Execute, looks: list[Look], identity: Identity | None, ours: Identity | None
    ) -> list[str]:
        notes = []
        if identity is not None and ours is None:
            notes.append(OTHER_EMBEDDER)
        elif ours and any(look.vectors is None and look.catalog.count for look in looks):
            notes.append(STILL_COLD)
        if not terms_are_current(execute):
            notes.append(OTHER_TERMS)
        if self._background is not None and self._background.fault:
            notes.append(f"vectors cannot be made: {self._background.fault}")
        return notes

    def _answer(
        self,
        caller: Caller,
        ask: Ask,
        view: Sight,
        found: list[tuple[Scored, Fact, dict[str, Any]]],
        lag: int,
        notes: list[str],
        watch: Stopwatch,
    ) -> Recall:
        recall_id = new_id("r")
        with watch("show"):
            told = listed([fact for _, fact, _ in found], "recall", recall_id, ask.tokens)
        if len(told.shown) < len(found):
            notes.append(NO_ROOM.format(len(found) - len(told.shown)))
        items = tuple(
            use.ShownItem(each.number, rank, each.score, why, rank - 1 in told.shown)
            for rank, (each, _, why) in enumerate(found, 1)
        )
        settings = asdict(ask) | {"embedder": self._embedder.name, "floor": self._floor(ask)}
        del settings["query"]
        settings["speaker"] = Fields().line(ask.speaker, NAME)
        at = now_ms()
        self._record(recall_id, caller, "recall", ask.query, settings, view, items, at)
        shown = [found[place] for place in told.shown]
        return Recall(
            recall_id,
            tuple(Recalled(fact, each.score, why) for each, fact, why in shown),
            told.text,
            told.tokens,
            lag,
            tuple(notes),
            watch.stop(),
        )

    def _floor(self, ask: Ask) -> float:
        return float(self._ranker.floor if ask.floor is None else ask.floor)

    def _record(
        self,
        recall_id: str,
        caller: Caller,
        kind: str,
        query: str,
        settings: dict[str, Any],
        view: Sight,
        items: tuple[use.ShownItem, ...],
        at: int,
    ) -> None:
        """Secrets in a question are not kept, as those in facts are not."""
        self._recorder.record(
            use.Shown(
                recall_id,
                caller.tenant,
                caller.who,
                at,
                kind,
                Fields().text(query, LONGEST),
                settings,
                tuple(view.scopes),
                items,
            )
        )


def _corrects(fact: str) -> dict[str, str]:
    return {"corrects": fact} if fact else {}


def _shown(
    execute: Execute, view: Sight, ask: Ask, scored: list[Scored], watch: Stopwatch
) -> tuple[list[tuple[Scored, Fact]], dict[int, str]]:
    """What is shown of the best, each correction before what it corrects, and the ids of that."""
    with watch("show"):
        best = _visible(execute, view, without_repeats(scored, ask.limit))
        return corrected_first(execute, view, ask, best)


def _visible(execute: Execute, view: Sight, best: list[Scored]) -> list[tuple[Scored, Fact]]:
    """The facts themselves, through the caller's sight; only those that are active now."""
    known = facts.by_number(execute, view, [each.number for each in best])
    return [
        (each, known[each.number])
        for each in best
        if each.number in known and known[each.number].lifecycle == "active"
    ]
