"""One learning run from start to finish: search, control, choice, gate, one look at the rest."""

import asyncio
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, replace
from pathlib import Path
from statistics import fmean
from typing import Any

from metamem.core import registry
from metamem.core.aside import aside
from metamem.core.calls import Spending
from metamem.core.chat import Site
from metamem.core.errors import BudgetSpent, ModelUnavailable, UsageError
from metamem.core.ids import derive_seed
from metamem.core.progress import Progress, Silent
from metamem.core.stopwatch import Stopwatch
from metamem.core.together import together
from metamem.core.types import Design, Evaluation
from metamem.designs.library import rivals
from metamem.evaluation.chats import PlacedChat
from metamem.evaluation.evaluator import ORACLE, Evaluator
from metamem.evaluation.jobs import Spec
from metamem.evaluation.racing import RaceSettings
from metamem.promotion.gate import Decision, Gate
from metamem.promotion.ledger import Ledger
from metamem.search.config import LearnConfig
from metamem.search.explain import PURPOSE, explain
from metamem.search.loop import HUMAN, Budget, Search
from metamem.search.opening import Stage
from metamem.search.readiness import readiness
from metamem.search.table import table
from metamem.store.archive import Archive
from metamem.store.records import Place, ProposalRecord, Subject

HANDOFF = "handoff"
LLM = "llm"
KEEP_SECONDS = 2.0  # of working time that are lost at most, or one case if that takes longer
CONTROL = "control"  # the journal of the random arm is the run's name with this behind it


class Learning:
    """Carries out one run. Whatever a killed process had finished is found in the archive."""

    def __init__(
        self,
        stage: Stage,
        progress: Progress | None = None,
        *,
        desk: Path | None = None,
    ) -> None:
        """`desk` is the folder in which work is handed off, where the proposer does that."""
        self.stage, self.desk = stage, desk
        self.archive, self.broker = stage.archive, stage.broker
        self.run_id, self.config = stage.run_id, stage.config
        self.progress = progress or Silent()
        self.watch = Stopwatch()  # stands still while a proposer waits for somebody
        self.elapsed = 0.0  # by earlier processes of the same run
        self._kept = 0.0  # the time that was entered last, and the entering of it
        self._keeping: asyncio.Future[None] | None = None
        self.evaluator = self._evaluator()
        readiness(self.evaluator.domain, self.config.rules)
        self.humans = self._humans()
        writers = self.broker.models("meta") if self.broker is not None else ()
        if self.config.proposer.name == LLM and not writers:
            raise ModelUnavailable(
                "the proposer llm needs a model",
                hint="give --model meta=NAME, such as --model meta=openai:gpt-5",
            )

    async def run(self) -> dict[str, Any]:
        """The summary of the finished run, which is also stored with it."""
        main = await self._search()
        finalists = await self._confirm(main)
        control = await self._control() if self.config.control else []
        decision = await self._decide(finalists)
        learned = decision.promoted or (
            decision.comparisons[0].design if decision.comparisons else None
        )
        rival = await self._best_control(control)
        summary = {
            "learned": learned,
            "promoted": decision.promoted is not None,
            "decision": decision.to_json(),
            "control": rival,
            "search": await self._search_told(main),
            "explanation": await self._explain(learned, main),
            "tables": await self._report(learned, rival),
            "models": await aside(self._models),
        }
        await aside(self._record, decision, learned)
        return {"seconds": self.seconds, **summary}

    @property
    def seconds(self) -> float:
        """Worked on by this process and those before it."""
        return round(self.elapsed + self.watch.seconds(), 3)

    def _waits(self, yes: bool) -> None:
        if yes:
            self.watch.pause()
        else:
            self.watch.resume()
        self.progress.waiting(yes)

    # --- the parts ---------------------------------------------------------------------------

    def _evaluator(self, **changes: Any) -> Evaluator:
        return self.stage.evaluator(lambda row: self._played(), **changes)

    def _played(self) -> None:
        """Keeps the time now and then: a process that is killed cannot say how long it worked."""
        self.progress.cases()
        if self.seconds - self._kept >= KEEP_SECONDS:
            self._kept = self.seconds
            state = {"seconds": self._kept}
            self._keeping = asyncio.ensure_future(
                aside(self.archive.set_run_state, self.run_id, "running", state)
            )

    def _humans(self) -> dict[str, Design]:
        model = self.broker is not None and bool(self.broker.models("memory"))
        return rivals(self.evaluator.domain.baselines(), model=model)

    async def _search(self) -> Search:
        total = len(self.humans) + self.config.budget.designs if self.config.budget.designs else 0
        self.progress.phase("searching", total)
        search = self._arm(self.run_id, self.config.budget)
        await search.run()
        return search

    async def _control(self) -> list[Design]:
        """Random recombination with as many proposals as the search had."""
        tried = len(await aside(self.archive.proposals, self.run_id)) - len(self.humans)
        self.progress.phase("random control", len(self.humans) + tried)
        journal = f"{self.run_id}/{CONTROL}"
        await aside(self.archive.create_run, journal, {"control_of": self.run_id})
        arm = self._arm(journal, Budget(designs=tried), proposer="random", selector="uniform")
        await arm.run()
        counts = _counts(arm, await aside(self.archive.proposals, journal))
        await aside(self.archive.set_run_state, journal, "finished", counts)
        return await self._confirm(arm)

    def _arm(self, journal: str, budget: Budget, proposer: str = "", selector: str = "") -> Search:
        config = self.config
        made = (
            config.proposer
            if not proposer
            else replace(config.proposer, name=proposer, settings={})
        )
        chosen = (
            config.selector
            if not selector
            else replace(config.selector, name=selector, settings={})
        )
        return Search(
            archive=self.archive,
            evaluator=self.evaluator,
            journal=journal,
            seeds=list(self.humans.values()),
            proposer=registry.create("proposers", made.name, **self._settings(made)),
            proposer_name=made.name,
            selector=registry.create("selectors", chosen.name, **chosen.settings),
            budget=budget,
            seed=derive_seed(config.seed, "search", made.name),
            batch=config.batch,
            race=RaceSettings() if config.racing else None,
            progress=self.progress,
            chats_at=self._chats_at if self.broker else None,
            hints=config.hints,
            worked=lambda: self.seconds,
            free_duplicates=made.name == HANDOFF,
        )

    def _settings(self, proposer: Spec) -> dict[str, Any]:
        """What only this run knows: where it hands off, and how much its models can read."""
        if proposer.name == HANDOFF and self.desk is not None:
            return {"folder": str(self.desk), "on_wait": self._waits, **proposer.settings}
        if proposer.name == LLM and self.broker is not None:
            window = min((model.window for model in self.broker.models("meta")), default=0)
            return {**({"window": window} if window else {}), **proposer.settings}
        return dict(proposer.settings)

    def _chats_at(self, seed: int) -> dict[str, PlacedChat]:
        """The models that write designs, bound to one request."""
        assert self.broker is not None
        return {
            model.name: PlacedChat(
                self.broker.ask, Site("meta", model.name, phase="propose", seed=seed)
            )
            for model in self.broker.models("meta")
        }

    async def _confirm(self, arm: Search) -> list[Design]:
        """The best of an arm, after they changed halves: on tasks the search never chose by."""
        whole = [e for e in arm.entries if e.estimate.complete and not e.human]
        whole.sort(key=lambda e: (-e.estimate.mean, e.evidence.tokens, e.ordinal))
        best = whole[: self.config.confirm]
        self.progress.phase("confirming", len(best) * self.config.confirm_seeds)
        scores = {e.design.id: [e.estimate.mean] for e in best}
        other = replace(self.config.rules, fold=0 if self.config.rules.fold else 1)
        for n in range(self.config.confirm_seeds):
            luck = derive_seed(self.config.seed, "confirm", n)
            fresh = self._evaluator(seed=luck, rules=other)
            results = await self._all(fresh, [e.design for e in best], "train", "confirm")
            for design_id, evaluation in results.items():
                scores[design_id].append(evaluation.reward)
        best.sort(key=lambda e: (-fmean(scores[e.design.id]), e.evidence.tokens, e.ordinal))
        return [e.design for e in best[: self.config.shortlist]]

    async def _decide(self, finalists: Sequence[Design]) -> Decision:
        evaluator = self._finals()
        designs = [*self.humans.values(), *finalists]
        self.progress.phase("deciding on valid", len(designs))
        valid = await self._all(evaluator, designs, "valid", "promotion gate")
        names = {design.id: name for name, design in self.humans.items()}
        return Gate().decide(
            {d.id: valid[d.id].by_task() for d in finalists},
            {name: valid[design_id].by_task() for design_id, name in names.items()},
            seed=self.config.seed,
        )

    async def _best_control(self, finalists: Sequence[Design]) -> str | None:
        """The control's own champion, chosen on valid just as the learned design is."""
        if not finalists:
            return None
        self.progress.phase("the control on valid", len(finalists))
        found = await self._all(self._finals(), finalists, "valid", "random control")
        return max(found, key=lambda design_id: (found[design_id].reward, design_id))

    async def _explain(self, learned: str | None, arm: Search) -> dict[str, Any] | None:
        """What the learned design's parts and the steps to it are worth."""
        evaluator = self._finals()
        wanted = self.config.explain
        if learned is None or wanted is False or (wanted is None and evaluator.setup.models):
            return None
        by_id = {entry.design.id: entry for entry in arm.entries}
        line: list[Design] = []
        entry = by_id[learned]
        while entry.parents and entry.parents[0] in by_id:
            entry = by_id[entry.parents[0]]
            line.append(entry.design)

        async def play(designs: Sequence[Design]) -> dict[str, Evaluation]:
            self.progress.phase("taking the design apart", len(designs))
            return await self._all(evaluator, designs, "valid", PURPOSE, created_by=PURPOSE)

        played = evaluator.fingerprint(by_id[learned].design, "valid").id
        gate = await aside(self.archive.traces, played)
        advices = [advice.text for trace in gate for advice in trace.episode.advice]
        return (await explain(by_id[learned].design, line, advices, play)).to_json()

    async def _report(self, learned: str | None, rival: str | None) -> dict[str, Any]:
        """The one look at test and shift."""
        rows: dict[str, Design] = dict(self.humans)
        if rival is not None:
            rows["random recombination"] = await aside(self.archive.design, rival)
        if learned is not None:
            rows["learned"] = await aside(self.archive.design, learned)
        rows["oracle"] = ORACLE
        evaluator = self._finals()
        tables = {}
        for split in ("test", "shift"):
            self.progress.phase(f"reading {split}", len(rows))
            found = await self._all(evaluator, list(rows.values()), split, "report")
            tables[split] = table({n: found[d.id] for n, d in rows.items()}, list(self.humans))
        return tables

    def _finals(self) -> Evaluator:
        return self._evaluator(rules=replace(self.config.rules, repeats=self.config.final_repeats))

    async def _all(
        self,
        evaluator: Evaluator,
        designs: Sequence[Design],
        split: str,
        purpose: str,
        created_by: str = "",
    ) -> dict[str, Evaluation]:
        async def one(design: Design) -> Evaluation:
            outcome = await evaluator.evaluate(
                design, split, purpose=purpose, created_by=created_by
            )
            self.progress.advance()
            return outcome.evaluation

        unique = list({d.id: d for d in designs}.values())
        done = await together(one(design) for design in unique)
        return {design.id: evaluation for design, evaluation in zip(unique, done, strict=True)}

    async def _search_told(self, arm: Search) -> dict[str, Any]:
        """What came of the search, with calls that were lost and models that nobody ever asked."""
        counts = _counts(arm, await aside(self.archive.proposals, self.run_id))
        spending = await aside(self.archive.spending, self.run_id)
        asked = {spent.role for spent in spending}
        asked |= self.broker.roles_asked if self.broker is not None else set()
        for role in self.config.models:
            if role not in asked:
                counts["warnings"].append(f"the model of the role {role} was never asked")
        lost = sum(spent.in_flight for spent in spending)
        if lost:
            words = (
                f"{lost} calls to models were under way when an earlier process was ended; they"
                " were sent again, so they may have been billed twice"
            )
            counts["warnings"].append(words)
        return counts

    def _models(self) -> list[dict[str, Any]]:
        """What this run spent on models, by role and model."""
        totals: dict[tuple[str, str], Spending] = {}
        for spent in self.archive.spending(self.run_id):
            key = (spent.role, spent.model)
            totals[key] = totals[key] + spent if key in totals else spent
        return [{**asdict(spent), "design_id": "", "run_id": ""} for spent in totals.values()]

    def _record(self, decision: Decision, learned: str | None) -> None:
        """Enter the decision, once: a run that was killed right after this enters no second one."""
        if self.archive.promotions(self.run_id):
            return
        ledger = Ledger(self.archive)
        enter = ledger.promote if decision.promoted else ledger.refuse
        enter(
            Subject("design", learned or ""),
            Place("domain", self.evaluator.domain.name),
            reason=decision.reason,
            evidence=decision.to_json(),
            risk="code",
            run_id=self.run_id,
        )


def _counts(arm: Search, proposals: Sequence[ProposalRecord]) -> dict[str, Any]:
    """What came of the proposals. Zero evaluated or zero better than its parent is a warning."""
    own = [p for p in proposals if p.operator != HUMAN]
    by_status = {s: sum(p.status == s for p in own) for s in ("accepted", "duplicate", "rejected")}
    improved = sum(o.gain is not None and o.gain > 0 for o in arm.outcomes)
    warnings = []
    if not by_status["accepted"]:
        warnings.append("no proposal was new and worked: the search never searched")
    elif not improved:
        warnings.append("no child did better than its parent: the search found nothing")
    return {"proposed": len(own), **by_status, "improved": improved, "warnings": warnings}


def _enter(archive: Archive, run_id: str, config: LearnConfig) -> None:
    """Enter a new run. One that an older version began may lack settings that came later: what
    counts is what its settings mean."""
    known = next((run for run in archive.runs() if run.id == run_id), None)
    if known is None or LearnConfig.from_json(known.config) != config:
        archive.create_run(run_id, config.to_json())  # refuses another config for a known run


async def learn(
    stage: Stage, progress: Progress | None = None, *, desk: Path | None = None
) -> dict[str, Any]:
    """Start a run, or go on with it where it stopped. One process at a time per run."""
    learning = Learning(stage, progress, desk=desk)  # refuses a wrong config
    archive, run_id = stage.archive, stage.run_id
    await aside(_enter, archive, run_id, stage.config)
    with ExitStack() as held:
        await aside(held.enter_context, archive.lock_run(run_id))
        record = await aside(archive.run, run_id)
        if record.state == "finished":
            return dict(record.summary)
        learning.elapsed = float(record.summary.get("seconds", 0.0))
        await aside(archive.set_run_state, run_id, "running", {"seconds": learning.seconds})
        try:
            summary = await learning.run()
        except (KeyboardInterrupt, asyncio.CancelledError):
            await aside(archive.set_run_state, run_id, "stopped", {"seconds": learning.seconds})
            raise
        except (BudgetSpent, UsageError) as stop:
            state = {"seconds": learning.seconds, "error": stop.message}
            await aside(archive.set_run_state, run_id, "stopped", state)
            raise
        except Exception as error:
            state = {"seconds": learning.seconds, "error": str(error)}
            await aside(archive.set_run_state, run_id, "failed", state)
            raise
        await aside(archive.set_run_state, run_id, "finished", summary)
        return summary
