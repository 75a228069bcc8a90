"""One learning run from start to finish: search, control, choice, gate, one look at the rest."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from metamem.core import registry
from metamem.core.aside import aside
from metamem.core.chat import ROLES, Site
from metamem.core.errors import AllowanceSpent, UnknownName, UsageError
from metamem.core.figures import scale_of
from metamem.core.ids import derive_seed
from metamem.core.needs import needs_of
from metamem.core.progress import Progress, Silent
from metamem.core.stopwatch import Stopwatch
from metamem.core.together import together
from metamem.core.types import Design, Evaluation
from metamem.evaluation.evaluator import Evaluator
from metamem.evaluation.jobs import Spec
from metamem.evaluation.origins import enter_origin
from metamem.evaluation.racing import RaceSettings
from metamem.models.placed import PlacedChat
from metamem.promotion.gate import Decision, Gate
from metamem.promotion.ledger import Ledger
from metamem.promotion.places import place_of
from metamem.promotion.under import learned_under
from metamem.runs.attribution import row_name, vouched
from metamem.runs.config import LearnConfig
from metamem.runs.confirming import confirmed, rungs
from metamem.runs.explain import PURPOSE, explain
from metamem.runs.explanation import Explanation
from metamem.runs.opening import Stage
from metamem.runs.readiness import readiness
from metamem.runs.rounds import Round
from metamem.runs.searching import SearchInRounds
from metamem.runs.summary import Summary
from metamem.runs.supply import make_proposer, met_needs
from metamem.runs.table import LEARNED, TableRow, table
from metamem.runs.tally import counted, never_acted, search_told, spent_on_models
from metamem.search.learnables import Deprived, learnable_of
from metamem.search.loop import Budget, Search
from metamem.store.archive import Archive
from metamem.store.records import Subject

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
        """`desk` is the folder that the proposer is given, where it needs one."""
        self.stage, self.desk = stage, desk
        self.archive, self.broker = stage.archive, stage.broker
        self.run_id, self.config = stage.run_id, stage.config
        self.progress = progress or Silent()
        self.watch = Stopwatch()  # stands still while a proposer waits for somebody
        self.elapsed = 0.0  # by earlier processes of the same run
        self._kept = 0.0  # the time that was entered last, and the entering of it
        self._keeping: asyncio.Future[None] | None = None
        self.rules = self.config.rules  # after the search: those of its last round
        self.rounds: list[Round] = []
        self.evaluator = self._evaluator()
        self.domain = self.evaluator.domain
        self.learnable = learnable_of(self.domain)
        readiness(self.domain, self.config.rules)
        self.humans = self._humans()
        met_needs("proposers", self.config.proposer.name, self.broker)

    async def run(self) -> Summary:
        """The summary of the finished run, which is also stored with it."""
        main = await self._search()
        finalists = await self._confirm(main)
        control = await self._control(main.spent) if self.config.control else []
        valid = await self._on_valid(finalists)
        decision = await self._vouched(self._decide(finalists, valid), valid)
        learned = decision.promoted or (
            decision.comparisons[0].design if decision.comparisons else None
        )
        blind = await self._control_on_valid(control)
        rival = max(blind, key=lambda found: (blind[found].reward, found)) if blind else None
        if learned is not None:
            decision = self._gate.beside_control(
                decision,
                valid[learned].by_task(),
                {found: evaluation.by_task() for found, evaluation in blind.items()},
                seed=self.config.seed,
            )
        asked = self.broker.roles_asked if self.broker is not None else frozenset()
        search = await aside(search_told, self.archive, self.run_id, main, self.config, asked)
        explanation = await self._explain(learned, main)
        tables = await self._report(learned, rival)
        idle = never_acted(self.domain, tables["test"])
        summary = Summary(
            learned=learned,
            promoted=decision.promoted is not None,
            decision=decision,
            control=rival,
            search=replace(search, warnings=(*search.warnings, *idle)),
            explanation=explanation,
            tables=tables,
            models=await aside(spent_on_models, self.archive, self.run_id),
            reward_range=self.domain.reward_range,
            reward_name=scale_of(self.domain).name,
            rounds=tuple(self.rounds),
        )
        await aside(self._record, decision, learned)
        return replace(summary, seconds=self.seconds)

    @property
    def seconds(self) -> float:
        """Worked on by this process and those before it."""
        return round(self.elapsed + self.watch.seconds(), 3)

    def so_far(self, error: str = "") -> dict[str, Any]:
        """What is kept of a run that has not finished; `error`: why it ended."""
        rewards, named = self.domain.reward_range, scale_of(self.domain).name
        return Summary(
            self.seconds, error, reward_range=rewards, reward_name=named, rounds=tuple(self.rounds)
        ).to_json()

    def _waits(self, yes: bool) -> None:
        if yes:
            self.watch.pause()
        else:
            self.watch.resume()
        self.progress.waiting(yes)

    # --- the parts ---------------------------------------------------------------------------

    def _evaluator(self, **changes: Any) -> Evaluator:
        changes = {"rules": self.rules, **changes}
        return self.stage.evaluator(lambda row: self._played(), self.progress.note, **changes)

    def _played(self) -> None:
        """Keeps the time now and then: a process that is killed cannot say how long it worked."""
        self.progress.cases()
        if self.seconds - self._kept >= KEEP_SECONDS:
            self._kept = self.seconds
            self._keeping = asyncio.ensure_future(
                aside(self.archive.set_run_state, self.run_id, "running", self.so_far())
            )

    def _humans(self) -> dict[str, Design]:
        broker = self.broker
        roles = [role for role in ROLES if broker is not None and broker.models(role)]
        seeds = self.learnable.seeds(self.domain, roles)
        return seeds | {n: self.learnable.load(n, self.domain) for n in self.config.begin}

    async def _search(self) -> Search:
        """Round by round. All that comes after it is played with what the last one collected."""
        config = self.config
        search = self._arm(self.run_id, config.budget, config.proposer, config.selector)
        rounds = SearchInRounds(
            search, config, lambda rules: self._evaluator(rules=rules), self.progress
        )
        self.rounds = rounds.told
        await rounds.run()
        self.evaluator, self.rules = rounds.evaluator, rounds.rules
        return search

    async def _control(self, tried: int) -> list[Design]:
        """Who searches blindly, with as many designs as the search tried."""
        self.progress.phase("random control", len(self.humans) + tried)
        journal = f"{self.run_id}/{CONTROL}"
        await aside(self.archive.create_run, journal, {"control_of": self.run_id})
        blind = self.learnable.blind
        arm = self._arm(journal, Budget(designs=tried), blind.proposer, blind.selector)
        await arm.run()
        counts = counted(arm, await aside(self.archive.proposals, journal))
        await aside(self.archive.set_run_state, journal, "finished", counts.to_json())
        return await self._confirm(arm)

    def _arm(self, journal: str, budget: Budget, made: Spec, chosen: Spec) -> Search:
        config = self.config
        return Search(
            archive=self.archive,
            evaluator=self.evaluator,
            journal=journal,
            learnable=self.learnable,
            seeds=list(self.humans.values()),
            proposer=make_proposer(made, self.broker, self.desk, self._waits),
            proposer_name=registry.portable(made.name),
            selector=registry.create("selectors", chosen.name, **chosen.settings),
            budget=budget,
            seed=derive_seed(config.seed, "search", registry.portable(made.name)),
            batch=config.batch,
            race=RaceSettings() if config.racing else None,
            progress=self.progress,
            chats_at=self._chats_at if self.broker else None,
            hints=config.hints,
            worked=lambda: self.seconds,
            free_duplicates=not needs_of("proposers", made.name).model,  # each try is paid for
        )

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
        """The best of an arm, by what they do on tasks that the search never chose by."""
        whole = [e for e in arm.entries if e.estimate.complete and not e.human]
        ladder = rungs(self.domain, self.rules, self.config)
        number = min(len(whole), self.config.confirm)
        self.progress.phase("confirming", sum(min(number, rung.designs) for rung in ladder))

        async def play(n: int, designs: Sequence[Design]) -> Mapping[str, Evaluation]:
            luck = derive_seed(self.config.seed, "confirm", n)
            fresh = self._evaluator(seed=luck, rules=ladder[n].rules)
            return await self._all(fresh, designs, "train", "confirm")

        best = await confirmed(whole, self.config.confirm, ladder, play)
        return [e.design for e in best[: self.config.shortlist]]

    async def _on_valid(self, finalists: Sequence[Design]) -> dict[str, Evaluation]:
        designs = [*self.humans.values(), *finalists]
        self.progress.phase("deciding on valid", len(designs))
        return await self._all(self._finals(), designs, "valid", "promotion gate")

    @property
    def _gate(self) -> Gate:
        return Gate(rule=self.learnable.rule(self.domain))

    def _decide(self, finalists: Sequence[Design], valid: Mapping[str, Evaluation]) -> Decision:
        names = {design.id: name for name, design in self.humans.items()}
        return self._gate.decide(
            {d.id: valid[d.id].by_task() for d in finalists},
            {name: valid[design_id].by_task() for design_id, name in names.items()},
            seed=self.config.seed,
        )

    async def _vouched(self, decision: Decision, valid: Mapping[str, Evaluation]) -> Decision:
        """What passed must also live by what it should."""

        async def play(design_id: str, deprived: Deprived) -> Evaluation:
            self.progress.phase(f"valid with no {deprived.lacks}", 1)
            design = await aside(self.archive.design, design_id)
            found = await self._all(self._finals(deprived), [design], "valid", "promotion gate")
            return found[design_id]

        return await vouched(
            self._gate,
            decision,
            valid,
            self.learnable,
            self.domain,
            play,
            allowed=self.config.allow_built_in,
            seed=self.config.seed,
        )

    async def _control_on_valid(self, finalists: Sequence[Design]) -> dict[str, Evaluation]:
        """Its champion is chosen there, just as the learned design is."""
        if not finalists:
            return {}
        self.progress.phase("the control on valid", len(finalists))
        return await self._all(self._finals(), finalists, "valid", "random control")

    async def _explain(self, learned: str | None, arm: Search) -> Explanation | None:
        """What the learned design's parts and the steps to it are worth."""
        evaluator = self._finals()
        wanted = self.config.explain
        if learned is None or wanted is False or (wanted is None and evaluator.setup.models):
            return None
        by_id = arm.past | {entry.design.id: entry for entry in arm.entries}
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
        design = by_id[learned].design
        variants = self.learnable.variants(design, [t.episode for t in gate], self.domain)
        return await explain(design, line, variants, play)

    async def _report(
        self, learned: str | None, rival: str | None
    ) -> dict[str, tuple[TableRow, ...]]:
        """The one look at test and shift."""
        rows: dict[str, Design] = dict(self.humans)
        if rival is not None:
            rows[self.learnable.blind.name] = await aside(self.archive.design, rival)
        if learned is not None:
            rows[LEARNED] = await aside(self.archive.design, learned)
        evaluator = self._finals()
        deprived = [(each, self._finals(each)) for each in self.learnable.deprivations if learned]
        ceiling = evaluator.kind.ceiling
        known = [*rows.values(), *([ceiling] if ceiling else [])]
        tables = {}
        for split in ("test", "shift"):
            self.progress.phase(f"reading {split}", len(known) + len(deprived))
            found = await self._all(evaluator, known, split, "report")
            shown = {name: found[design.id] for name, design in rows.items()}
            lacking = {}
            for each, without in deprived:
                lacking[name := row_name(each)] = each.lacks
                played = await self._all(without, [rows[LEARNED]], split, "report")
                shown[name] = played[rows[LEARNED].id]
            if ceiling is not None:
                shown[getattr(self.domain, "answers", ceiling.name)] = found[ceiling.id]
            humans, rewards = list(self.humans), self.domain.reward_range
            tables[split] = tuple(table(shown, humans, rewards, lacking))
        return tables

    def _finals(self, deprived: Deprived | None = None) -> Evaluator:
        """How what is decided and reported is played; `deprived`: the learned design, without."""
        changes = {"repeats": self.config.final_repeats, **(deprived.rules if deprived else {})}
        return self._evaluator(rules=replace(self.rules, **changes))

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

    def _record(self, decision: Decision, learned: str | None) -> None:
        """Enter the decision, once: a run that was killed right after this enters no second one."""
        if self.archive.promotions(self.run_id):
            return
        spec = self.config.domain
        under = learned_under(spec.name, spec.settings, self.domain)
        ledger, evidence = Ledger(self.archive), {**decision.to_json(), **under.evidence()}
        if decision.promoted:
            design = self.archive.design(decision.promoted)
            self.learnable.promote(
                ledger, design, self.domain, decision.reason, evidence, self.run_id
            )
            return
        ledger.refuse(
            Subject(self.learnable.subject, learned or ""),
            place_of(self.domain),
            reason=decision.reason,
            evidence=evidence,
            run_id=self.run_id,
        )


def _enter(archive: Archive, run_id: str, config: LearnConfig) -> None:
    """Enter a new run. One that an older version began may lack settings that came later: what
    counts is what its settings mean."""
    with suppress(UnknownName):
        if LearnConfig.from_json(archive.run(run_id).config) == config:
            return
    archive.create_run(run_id, config.to_json())  # refuses another config for a known run


async def learn(
    stage: Stage, progress: Progress | None = None, *, desk: Path | None = None
) -> Summary:
    """Start a run, or go on with it where it stopped. One process at a time per run."""
    learning = Learning(stage, progress, desk=desk)  # refuses a wrong config
    archive, run_id = stage.archive, stage.run_id
    await aside(enter_origin, archive, learning.domain, "run", run_id)
    await aside(_enter, archive, run_id, stage.config)
    with ExitStack() as held:
        await aside(held.enter_context, archive.lock_run(run_id))
        record = await aside(archive.run, run_id)
        if record.state == "finished":
            return Summary.from_json(record.summary)
        learning.elapsed = Summary.from_json(record.summary).seconds
        await aside(archive.set_run_state, run_id, "running", learning.so_far())
        try:
            summary = await learning.run()
        except (KeyboardInterrupt, asyncio.CancelledError):
            await aside(archive.set_run_state, run_id, "stopped", learning.so_far())
            raise
        except (AllowanceSpent, UsageError) as stop:
            await aside(archive.set_run_state, run_id, "stopped", learning.so_far(stop.message))
            raise
        except Exception as error:
            told = learning.so_far(str(error) or type(error).__name__)
            await aside(archive.set_run_state, run_id, "failed", told)
            raise
        await aside(archive.set_run_state, run_id, "finished", summary.to_json())
        return summary
