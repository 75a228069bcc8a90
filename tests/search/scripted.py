"""A model that is a function, and small searches in the toy domain with it."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from metamem.api import open_home, running
from metamem.core.chat import Question, Reply, Usage
from metamem.core.errors import ModelRefused
from metamem.core.ids import derive_seed
from metamem.core.tokens import count_tokens
from metamem.designs.library import rivals
from metamem.evaluation.evaluator import Evaluator
from metamem.evaluation.jobs import Spec
from metamem.models.structured import Misfit, fit
from metamem.runs.config import LearnConfig
from metamem.search.learnables import learnable_of
from metamem.search.llm import LlmProposer
from metamem.search.llm.schemas import PLAN, REFLECTION
from metamem.search.loop import Budget, Search
from metamem.search.proposer import Proposer
from metamem.search.selectors import GreedySelector, Selector
from metamem.store.archive import ProposalRecord

Answer = Callable[[str, Question], str]  # of a stage; empty: the model says nothing

REFLECTED = {
    "helped": ["steps of rewarded episodes"],
    "hurt": ["failures teach nothing"],
    "advice": [{"task": "train-020", "judgement": "useful", "why": "it names the first action"}],
    "changes": [{"priority": "high", "what": "tell only the last actions", "why": "short helps"}],
}
PLANNED = {
    "summary": "Keeps the last actions of rewarded episodes by goal.",
    "changes": [{"what": "fewer actions", "why": "they are enough", "expected": "shorter advice"}],
    "kept": ["the key"],
}
DESIGN = '''from metamem.designs import Experience, Memory, Query, Tools, text


class Endings(Memory):
    """Remembers how rewarded episodes with the same goal ended."""

    KEPT = {kept}  # actions

    def __init__(self, tools: Tools) -> None:
        super().__init__(tools)
        self.endings: dict[str, list[str]] = {{}}

    async def retrieve(self, query: Query) -> str:
        return text.numbered(self.endings.get(query.goal, []))

    async def update(self, experience: Experience) -> None:
        if experience.reward > 0:
            self.endings[experience.goal] = [s.action for s in experience.steps[-self.KEPT :]]
'''


def design(kept: int = 2) -> str:
    return DESIGN.format(kept=kept)


BROKEN = design().replace("experience.reward > 0", "forgotten(experience)")


def fenced(source: str) -> str:
    return f"Here it is:\n\n```python\n{source}```\nGood luck."


def stage_of(question: Question) -> str:
    if question.schema == REFLECTION:
        return "ideate"
    if question.schema == PLAN:
        return "plan"
    return "repair" if "tried in the jail" in question.turns[-1].text else "code"


def sensible(stage: str, question: Question) -> str:
    """Answers every stage well; what it writes depends on what it was asked."""
    if stage == "ideate":
        return json.dumps(REFLECTED)
    if stage == "plan":
        return f"My plan:\n```json\n{json.dumps(PLANNED)}\n```"
    return fenced(design(kept=2 + derive_seed(question.digest) % 1000))


def answer(question: Question) -> str:
    """As the model `scripted:tests.search.scripted:answer`."""
    return sensible(stage_of(question), question)


class ScriptedModel:
    """Remembers what it was asked. A reply that does not fit is refused, as with real models."""

    def __init__(self, answer: Answer = sensible) -> None:
        self.answer = answer
        self.asked: list[tuple[str, Question]] = []

    async def ask(self, question: Question) -> Reply:
        stage = stage_of(question)
        self.asked.append((stage, question))
        text = self.answer(stage, question)
        used = Usage(sum(count_tokens(t.text) for t in question.turns), count_tokens(text))
        if not text.strip():
            raise ModelRefused("the model gave an empty reply", tokens=used.total)
        if question.schema is None:
            return Reply(text, usage=used)
        try:
            return Reply(text, fit(text, question.schema), used)
        except Misfit as misfit:
            raise ModelRefused(f"no JSON that fits: {misfit}", tokens=used.total) from misfit

    def stages(self) -> list[str]:
        return [stage for stage, _ in self.asked]

    def said(self) -> str:
        """All that it was ever told."""
        return "\n".join(turn.text for _, question in self.asked for turn in question.turns)


SETUP = LearnConfig(Spec("toy")).setup()


async def play_humans(home: Path) -> None:
    """What every search begins with, for copies of the folder."""
    with open_home(home) as archive:
        async with running(archive, Spec("inline")) as executor:
            evaluator = Evaluator(archive, executor, SETUP)
            for design in rivals(evaluator.domain.baselines(), model=False).values():
                await evaluator.evaluate(design, "train", purpose="search")


async def search(
    home: Path,
    models: Mapping[str, ScriptedModel],
    *,
    designs: int = 1,
    batch: int = 2,
    seed: int = 3,
    proposer: Proposer | None = None,
    selector: Selector | None = None,
    budget: Budget | None = None,
    **settings: Any,
) -> list[ProposalRecord]:
    """The journal of a search (human designs first), begun or gone on with."""
    with open_home(home) as archive:
        async with running(archive, Spec("inline")) as executor:
            evaluator = Evaluator(archive, executor, SETUP)
            archive.create_run("run", {})
            humans = rivals(evaluator.domain.baselines(), model=False)
            await Search(
                archive=archive,
                evaluator=evaluator,
                journal="run",
                learnable=learnable_of(evaluator.domain),
                seeds=list(humans.values()),
                proposer=proposer or LlmProposer(),
                proposer_name="llm",
                selector=selector or GreedySelector(),
                budget=budget or Budget(designs=designs),
                seed=seed,
                batch=batch,
                chats_at=lambda _: models,
                **settings,
            ).run()
        return archive.proposals("run")


def proposals(journal: list[ProposalRecord]) -> list[ProposalRecord]:
    return [p for p in journal if p.operator != "human"]


def main() -> None:
    """A search whose process dies at its n-th question to the model."""
    home, deadly = sys.argv[1], int(sys.argv[2])

    def answer(stage: str, question: Question) -> str:
        if len(model.asked) == deadly:
            os.kill(os.getpid(), signal.SIGKILL)
        return sensible(stage, question)

    model = ScriptedModel(answer)
    asyncio.run(search(Path(home), {"model": model}, designs=3))


if __name__ == "__main__":
    main()
