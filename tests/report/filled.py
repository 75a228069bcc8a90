"""A real archive, filled by hand: a run on the toy domain with everything a report can show."""

from dataclasses import replace

from metamem.core.types import (
    Advice,
    CaseResult,
    Design,
    Episode,
    Evaluation,
    Fingerprint,
    Measurement,
    Step,
)
from metamem.designs.library import load
from metamem.domains.toy import ToyDomain
from metamem.evaluation.jobs import Spec
from metamem.evaluation.kinds.memories import ORACLE
from metamem.promotion.gate import Gate
from metamem.promotion.ledger import Ledger
from metamem.runs.config import LearnConfig
from metamem.runs.summary import SearchCounts, Summary
from metamem.runs.table import table
from metamem.search.budget import Budget
from metamem.store.records import Place, ProposalRecord, ReadRecord, Subject, utc_now

RUN = "toy-s0-1"
HUMANS = ("no_memory", "trajectory_retrieval", "success_retrieval")
CONFIG = LearnConfig(domain=Spec("toy"), budget=Budget(designs=9))
SUCCESS = {  # of ten tasks, so many are won
    "no_memory": 1,
    "trajectory_retrieval": 3,
    "success_retrieval": 5,
    "random recombination": 5,
    "learned": 9,
    "oracle": 10,
}


class Filler:
    """`odd` is put wherever text comes from outside: code, games, notes, errors."""

    def __init__(self, archive, odd="", *, learned_wins=9):
        self.archive, self.odd = archive, odd
        self.valid = odd.encode(errors="replace").decode()  # what goes into ids is valid Unicode
        self.success = SUCCESS | {"learned": learned_wins}
        self.domain = ToyDomain()
        self.humans = {name: load(name) for name in HUMANS}
        self.designs = [self._design(n) for n in range(9)]
        self.learned, self.chance = self.designs[5], self._design(100)

    def run(self, *, finished=True):
        self.archive.create_run(RUN, CONFIG.to_json())
        self.archive.set_run_state(RUN, "running", {"seconds": 1.0})
        self.archive.create_run(f"{RUN}/control", {"control_of": RUN})
        self._journal(RUN, [0, 0, 1, 2, 3, 4, 6, 7, 8], "recombine")
        self._journal(f"{RUN}/control", [0, 1, 2], "random", first=100)
        if finished:
            self._finish()
        else:
            self.archive.set_run_state(RUN, "stopped", {"seconds": 5.0})
        return RUN

    def _design(self, number):
        odd = self.valid
        source = (
            f'"""Number {number}: what was found where. {odd}\n\n'
            f'Stores: doors and things.\nForgets: nothing. {odd}\n"""\n\n'
            f"from metamem.designs import Memory\n\n\nclass Doors(Memory):\n"
            f"    NUMBER = {number}  # {odd}\n\n"
            f'    async def retrieve(self, query):\n        """Tells the door of the thing."""\n'
            f'        return "open the red door"\n'
        )
        return Design(source, name=f"doors {number} {self.odd}")

    def _journal(self, journal, parents, proposer, first=0):
        for ordinal, design in enumerate(self.humans.values()):
            mean = self.success[design.name] / 10
            self._propose(journal, ordinal, design, (), "human", "human", mean)
        for n, parent in enumerate(parents):
            design = self._design(first + n)
            before = list(self.humans.values()) + [self._design(first + m) for m in range(n)]
            ids = (before[parent].id, before[-1].id) if n % 2 else (before[parent].id,)
            score = 0.3 + 0.05 * n
            self._propose(
                journal, n + 3, design, ids, proposer, "adopt", score, complete=n % 3 != 1
            )
        self._propose(journal, len(parents) + 3, self._design(first), (), proposer, "copy", None)

    def _propose(self, journal, ordinal, design, parents, proposer, operator, mean, complete=True):
        self.archive.add_design(design, created_by=proposer)
        estimate = (
            None if mean is None else {"mean": mean, "se": 0.05, "n": 20, "complete": complete}
        )
        status = "duplicate" if mean is None else "accepted"
        self.archive.add_proposal(
            ProposalRecord(
                journal,
                ordinal,
                design.id,
                parents,
                proposer,
                f"{operator}{'' if operator == 'human' else self.odd}",
                f"what changed and why {self.odd}",
                status,
                estimate=estimate,
            )
        )

    def _finish(self):
        self.archive.add_design(ORACLE)
        rows = {
            **self.humans,
            "random recombination": self.chance,
            "learned": self.learned,
            "oracle": ORACLE,
        }
        found = {
            split: {name: self._evaluation(name, design, split) for name, design in rows.items()}
            for split in ("valid", "test", "shift")
        }
        decision = Gate().decide(
            {self.learned.id: found["valid"]["learned"].by_task()},
            {name: found["valid"][name].by_task() for name in HUMANS},
        )
        decision = replace(decision, reason=f"{decision.reason} {self.odd}")
        summary = Summary(
            seconds=12.5,
            learned=self.learned.id,
            promoted=decision.promoted is not None,
            decision=decision,
            control=self.chance.id,
            search=SearchCounts(
                proposed=9,
                accepted=8,
                duplicate=1,
                rejected=0,
                improved=3,
                warnings=(f"a warning {self.odd}",),
            ),
            tables={split: tuple(table(found[split], HUMANS)) for split in ("test", "shift")},
        )
        self.archive.set_run_state(RUN, "finished", summary.to_json())
        ledger = Ledger(self.archive)
        enter = ledger.promote if decision.promoted else ledger.refuse
        enter(
            Subject("design", self.learned.id),
            Place("domain", "toy"),
            reason=decision.reason,
            evidence=decision.to_json(),
            risk="code",
            run_id=RUN,
        )

    def _evaluation(self, name, design, split) -> Evaluation:
        tasks = self.domain.tasks(split)
        mark = Fingerprint(
            design=design.id,
            domain="toy",
            data_version="1",
            split=split,
            rules=CONFIG.rules.to_json(),
            agent=f"reader {self.valid}",
            models={},
            embedder="hashed",
            toolbox="1",
            limits={"memory_mb": 1024},
            seed=0,
        )
        key = self.archive.open_evaluation(mark, len(tasks))
        rows, traces = [], {}
        for n, task in enumerate(tasks):
            # Wins are spread so that the best design also loses a task that no memory wins.
            won = (n * 7 + 9) % 10 < self.success[name] if name != "no_memory" else n % 10 == 0
            told = name not in ("no_memory", "oracle")
            row = CaseResult(
                task.id,
                0,
                float(won),
                2 if won else 4,
                advice_tokens=12 if told else 0,
                advice_digest=f"{n % 8}" if told else "",
                actions_digest="b" if told else "a",
                failure=f"crash {self.odd}" if name == "trajectory_retrieval" and n == 3 else "",
                measured=Measurement(0.01, 1.5),
            )
            rows.append(row)
            if n < 12:
                traces[row.case] = self._episode(task, row, told)
        self.archive.add_rows(key, rows, traces)
        if split in ("test", "shift"):
            self.archive.record_read(
                ReadRecord(utc_now(), RUN, split, design.id, key, f"report {self.odd}")
            )
        evaluation = self.archive.evaluation(key)
        assert evaluation is not None
        return evaluation

    def _episode(self, task, row, told) -> Episode:
        steps = tuple(
            Step(f"open the red door {self.odd}", f"Behind it: dust. {self.odd}")
            for _ in range(row.steps)
        )
        advice = (Advice(f"1. open the red door\n{self.odd}", 12),) if told else ()
        return Episode(
            task.id, task.goal + self.odd, f"A hall. {self.odd}", (), steps, row.reward, advice
        )
