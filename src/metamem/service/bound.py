"""A memory service bound to whoever calls it."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from metamem.core.access import Caller
from metamem.routing.words import Outcome
from metamem.service.reading_export import ReadIn
from metamem.service.recall.indexing import Progress, What
from metamem.service.routing.routing import NO_TAGS
from metamem.service.routing.words import (
    COST_WEIGHT,
    LATENCY_WEIGHT,
    ROUTER,
    Contender,
    Routed,
    RouteTold,
    RouteWhy,
    RoutingJudged,
    RoutingStanding,
)
from metamem.service.words import (
    Ask,
    Briefing,
    CallsKept,
    Change,
    Draft,
    Fact,
    Ingested,
    Listing,
    Page,
    Recall,
    Session,
    Tombstone,
    ToolCall,
    Verdict,
    Version,
    Written,
)

if TYPE_CHECKING:
    from metamem.service.service import MemoryService


class Bound:
    """`Memories`, by a service in this process. Who calls is asked anew with every verb."""

    def __init__(self, service: "MemoryService", caller: Callable[[], Caller]) -> None:
        self._service, self._caller = service, caller

    @property
    def caller(self) -> Caller:
        return self._caller()

    def remember(self, scope: str, drafts: Sequence[Draft]) -> list[Written]:
        return self._service.remember(self.caller, scope, drafts)

    def ingest(self, scope: str, session: Session) -> Ingested:
        return self._service.ingest(self.caller, scope, session)

    def keep_calls(
        self,
        scope: str,
        session: Session,
        calls: Sequence[ToolCall],
        rewound: Sequence[str] = (),
    ) -> CallsKept:
        return self._service.keep_calls(self.caller, scope, session, calls, rewound)

    def recall(self, ask: Ask) -> Recall:
        return self._service.recall(self.caller, ask)

    def briefing(self, scopes: Sequence[str] = (), tokens: int = 1500) -> Briefing:
        return self._service.briefing(self.caller, scopes, tokens)

    def get(self, fact: str) -> Fact:
        return self._service.get(self.caller, fact)

    def browse(self, listing: Listing) -> Page:
        return self._service.browse(self.caller, listing)

    def history(self, fact: str) -> list[Version]:
        return self._service.history(self.caller, fact)

    def edit(self, fact: str, change: Change) -> Fact:
        return self._service.edit(self.caller, fact, change)

    def forget(self, fact: str, reason: str = "") -> Fact:
        return self._service.forget(self.caller, fact, reason)

    def restore(self, fact: str, reason: str = "") -> Fact:
        return self._service.restore(self.caller, fact, reason)

    def feedback(self, recall: str, fact: str, verdict: Verdict, note: str = "") -> None:
        self._service.feedback(self.caller, recall, fact, verdict, note)

    def why(self, subject: str) -> dict[str, Any]:
        return self._service.why(self.caller, subject)

    def export(self, scopes: Sequence[str] = (), form: str = "jsonl") -> Iterator[str]:
        return self._service.export(self.caller, scopes, form)

    def erase(self, scope: str, reason: str, person: str = "") -> Tombstone:
        return self._service.erase(self.caller, scope, reason, person)

    def counts(self) -> dict[str, Any]:
        return self._service.counts(self.caller)

    def read_export(self, scope: str, lines: Iterable[str]) -> ReadIn:
        return self._service.read_export(self.caller, scope, lines)

    def reindex(self, what: What = "all") -> Progress:
        return self._service.reindex(self.caller, what)

    def route(
        self,
        scope: str,
        task: str,
        arms: Sequence[Contender | str],
        *,
        seen: str = "",
        tags: Mapping[str, str] = NO_TAGS,
        router: str = ROUTER,
        cost_weight: float = COST_WEIGHT,
        latency_weight: float = LATENCY_WEIGHT,
    ) -> Routed:
        return self._service.routing.route(
            self.caller,
            scope,
            task,
            arms,
            seen=seen,
            tags=tags,
            router=router,
            cost_weight=cost_weight,
            latency_weight=latency_weight,
        )

    def reward(self, decision: str, outcome: Outcome) -> RouteTold:
        return self._service.routing.reward(self.caller, decision, outcome)

    def why_route(self, decision: str) -> RouteWhy:
        return self._service.routing.explain(self.caller, decision)

    def routing(self, scope: str, router: str = ROUTER) -> RoutingStanding:
        return self._service.routing.standing(self.caller, scope, router)

    def judge_routing(
        self,
        scope: str,
        router: str = ROUTER,
        *,
        cost_weight: float | None = None,
        latency_weight: float | None = None,
    ) -> RoutingJudged:
        return self._service.routing.judge(
            self.caller, scope, router, cost_weight=cost_weight, latency_weight=latency_weight
        )
