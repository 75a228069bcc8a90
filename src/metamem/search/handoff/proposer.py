"""`Handoff` writes what it is asked into a folder and waits until somebody hands in a design."""

import asyncio
from importlib import resources

from metamem.core import registry
from metamem.core.aside import aside
from metamem.core.errors import DataError, UsageError
from metamem.core.ids import content_id
from metamem.core.needs import Needs
from metamem.core.types import Design
from metamem.search.handoff.alive import SignOfLife
from metamem.search.handoff.documents import documents
from metamem.search.handoff.place import Task, WorkFolder
from metamem.search.handoff.submission import Submission
from metamem.search.handoff.toolbox import toolbox
from metamem.search.manual import manual, reading
from metamem.search.proposer import Proposal, ProposerContext, Request

OPERATOR = "handoff"
POLL_SECONDS = 0.25
SHELF = "knowledge.md"
WORST_KINDS = 3  # of tasks, that are asked about
ERROR_LETTERS = 20_000  # a design may raise a megabyte


def skill() -> str:
    """How the work goes, in the words that a coding agent is given."""
    return resources.files(__package__).joinpath("skill.md").read_text(encoding="utf-8")


def request_id(request: Request) -> str:
    """Equal for the same request made again after a crash.

    The error is left out: two runs of one broken design may word it differently.
    """
    failed = request.failed_attempt.source if request.failed_attempt else None
    return content_id("handoff", request.seed, [p.design.id for p in request.parents], failed)


def _about(request: Request) -> list[str]:
    """What a request is about: the questions that are put to what lies beside it."""
    found = [request.domain_description]
    if request.failed_attempt:
        found.append(request.failed_attempt.error[-ERROR_LETTERS:])
    for parent in request.parents[:1]:
        worst = sorted(parent.evidence.reward_by_kind.items(), key=lambda kind: kind[1])
        found += [kind for kind, _ in worst[:WORST_KINDS]]
        found += [parent.evidence.error, *(each.note for each in parent.children[:WORST_KINDS])]
    return [text for text in found if text.strip()]


class Handoff:
    """Any coding agent as a proposer. Its answers lie in its folder, so none is asked for twice."""

    needs = Needs(
        folder=True,
        somebody="Designs are handed off: in another terminal, metamem handoff next",
    )

    def __init__(self, context: ProposerContext, tokens: int = 20_000, knowledge: str = "") -> None:
        if context.folder is None:
            raise UsageError("the proposer handoff needs a folder")
        self._place = WorkFolder(context.folder)
        self._place.make()
        self._tokens = tokens  # how long a dossier may be
        self._knowledge = knowledge  # an index whose pieces are laid beside it; none where empty
        self._open: set[int] = set()
        self._on_wait = context.on_wait
        self._sign = SignOfLife(self._place.root)
        self._sign.give()

    async def propose(self, request: Request) -> Proposal:
        asked = request_id(request)
        number = self._place.find(asked)
        if number is None:
            number = max([0, *self._place.numbers(), *self._open]) + 1
            await self._ask(number, asked, request)
        while (submission := await self._answer(number, asked, request)) is None:
            self._await(number)
            await asyncio.sleep(POLL_SECONDS)
        self._end_wait(number)
        parents = tuple(parent.design.id for parent in request.parents[:1])
        return Proposal(submission.design, parents, OPERATOR, submission.note)

    def _await(self, number: int) -> None:
        if not self._open:
            self._on_wait(True)
        self._open.add(number)
        if self._open != set(self._place.open()):
            self._place.set_open(self._open)
        self._sign.give()

    def _end_wait(self, number: int) -> None:
        if number not in self._open:
            return
        self._open.remove(number)
        self._place.set_open(self._open)
        if not self._open:
            self._on_wait(False)

    async def _ask(self, number: int, asked: str, request: Request) -> None:
        failed, earlier = request.failed_attempt, request.earlier
        parent = request.parents[0].design if request.parents else Design("")
        task = Task(
            number,
            asked,
            parent.id if request.parents else "",
            Design(failed.source).id if failed else "",
            failed.error[:ERROR_LETTERS] if failed else "",
            earlier.design.id if earlier and not failed else "",
        )
        told = await documents(request, self._tokens)
        texts = {
            **told,
            "manual.md": f"{manual()}\n{reading()}",
            "toolbox.md": toolbox(),
            "skill.md": skill(),
        }
        if self._knowledge:
            lay_out = registry.factory("shelves", "knowledge")
            texts[SHELF] = await aside(lay_out, self._knowledge, _about(request))
            texts["dossier.md"] += f"\nWhat is known beside all that, from files: {SHELF}.\n"
        if failed:
            texts["failed.py"] = failed.source
        self._place.write(task, texts)

    async def _answer(self, number: int, asked: str, request: Request) -> Submission | None:
        """What was handed in for this request, if it can be used."""
        try:
            if self._place.task(number).request == asked:
                return self._usable(number, asked)
        except (UsageError, DataError):
            pass
        await self._ask(number, asked, request)  # its folder vanished or was spoilt: a new one
        return None

    def _usable(self, number: int, asked: str) -> Submission | None:
        try:
            submission = self._place.submission(number)
            if submission is not None and submission.request != asked:
                raise DataError("it answers another request")
        except DataError as error:
            self._place.refuse(number, error.message)
            return None
        return submission
