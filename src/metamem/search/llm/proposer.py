"""`LlmProposer`: ideate, plan, code, and repair with the real error."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from random import Random
from typing import Any

from metamem.core.errors import UsageError
from metamem.core.ids import derive_seed
from metamem.core.needs import Needs, missing_model
from metamem.core.tokens import count_tokens
from metamem.core.types import Design
from metamem.search.dossier import dossier
from metamem.search.episodes import shown_episodes, tasks_to_show
from metamem.search.fitting import one_line, shortened
from metamem.search.llm import ensemble, prompts
from metamem.search.llm.extract import class_names, source_in
from metamem.search.llm.schemas import PLAN, REFLECTION
from metamem.search.llm.talk import Talk
from metamem.search.proposer import Proposal, ProposerContext, Request, ShownEpisode

IDEATE, PLANNED, CODE, REPAIR = "ideate", "plan", "code", "repair"
WINDOW = 60_000  # tokens, where nobody knows how many the models take
REFLECT, CODE_TOKENS = 6_000, 12_000  # of replies, where the window has room
CAREFUL = 0.9  # of the window is planned with, since tokens are only estimated
FRAME = 1500  # tokens of the requests themselves, above what they show
ERROR_TOKENS = 1500
NOTE_TOKENS = 80
NOTHING = "# No design came of this request.\n"  # how a source begins that stands for none


class LlmProposer:
    """Writes designs with a language model of the role `meta`, or with one of several."""

    needs = Needs(model="meta")

    def __init__(
        self,
        reflect_tokens: int | None = None,
        code_tokens: int | None = None,
        window: int | None = None,
        *,
        context: ProposerContext | None = None,
    ) -> None:
        """`window` goes before what the context knows of the models; where it is small, replies are
        shorter unless somebody says how long."""
        if window is None:
            window = (context.window if context else 0) or WINDOW
        if reflect_tokens is None:
            reflect_tokens = max(1, min(REFLECT, window // 8))
        if code_tokens is None:
            code_tokens = max(1, min(CODE_TOKENS, window // 4))
        if min(reflect_tokens, code_tokens, window) < 1:
            raise UsageError("reflect_tokens, code_tokens and window must be above zero")
        self.reflect_tokens, self.code_tokens = reflect_tokens, code_tokens
        self.system = prompts.system()
        answers = 2 * reflect_tokens + code_tokens
        self.room = int(CAREFUL * window) - count_tokens(self.system) - FRAME - answers
        if self.room < 0:
            raise UsageError(
                f"a window of {window} tokens is too small for the manual and for replies of "
                f"2 × {reflect_tokens} + {code_tokens} tokens",
                hint="give a larger window, or smaller reflect_tokens and code_tokens",
            )

    async def propose(self, request: Request) -> Proposal:
        if not request.chats:
            raise missing_model("proposers", "llm")
        model = ensemble.choose(request)
        earlier = request.earlier.stages if request.earlier else {}
        talk = Talk(request.chats[model], model, self.system, earlier)
        failed = request.failed_attempt
        if failed is not None and not failed.source.startswith(NOTHING):
            reply = await self._repair(talk, failed.source, failed.error)
        else:
            reply = await self._write(talk, request)
        return Proposal(
            design=_design(reply, talk, request),
            parents=tuple(view.design.id for view in request.parents[:1]),
            operator=ensemble.operator(request, model),
            note=_note(talk),
            stages=talk.stages | {"seed": _first_seed(request)},
            cost=float(talk.tokens),
        )

    async def _write(self, talk: Talk, request: Request) -> Any:
        """Reflect, plan, write. A stage that is refused is left out.

        After a copy the reflection still holds; after no code at all, the plan does, too.
        """
        copy = request.earlier.design.source if request.earlier else ""
        if request.failed_attempt is not None:
            copy = ""
        shown = {"parents": bool(request.parents)}
        room = self.room - count_tokens(copy)
        about = await _dossier(replace(request, seed=_first_seed(request)), room)
        opening = prompts.render("opening", dossier=about, **shown) + "\n\n"
        said: list[tuple[str, Any]] = []

        async def stage(
            name: str, asked: str, tokens: int, schema: Mapping[str, Any] | None, known: Any = None
        ) -> Any:
            asked = asked if said else opening + asked
            answer = known or await talk.ask(name, said, asked, tokens, schema)
            if answer is not None:
                said.append((asked, answer))
            return answer

        if request.parents:
            asked = prompts.render("ideate")
            known = talk.answer(IDEATE)
            await stage(IDEATE, asked, self.reflect_tokens, REFLECTION, known)
        known = None if copy else talk.answer(PLANNED)
        asked = prompts.render("plan", copy=copy, **shown)
        planned = await stage(PLANNED, asked, self.reflect_tokens, PLAN, known)
        asked = prompts.render("code", planned=planned is not None, copy="" if planned else copy)
        return await stage(CODE, asked, self.code_tokens, None)

    async def _repair(self, talk: Talk, source: str, error: str) -> Any:
        plan = talk.answer(PLANNED) or {}
        asked = prompts.render(
            "repair",
            source=source,
            error=shortened(error, ERROR_TOKENS),
            summary=plan.get("summary", ""),
        )
        return await talk.ask(REPAIR, [], asked, self.code_tokens, error=error)


async def _dossier(request: Request, room: int) -> str:
    found: Sequence[ShownEpisode] = ()
    if request.parents:
        view, luck = request.parents[0], Random(derive_seed("shown", request.seed))
        found = await view.episodes(tasks_to_show(view, view.before, luck))
    return dossier(request, room, partial(shown_episodes, found))


def _first_seed(request: Request) -> int:
    """Of the first try: later ones are shown the same sample of the evidence."""
    stages = request.earlier.stages if request.earlier else {}
    return int(stages.get("seed", request.seed))


def _design(reply: Any, talk: Talk, request: Request) -> Design:
    """The design in a reply; where there is none, a source that says so when it is run."""
    source = source_in(reply or "")
    if source:
        return Design(source, name=(class_names(source) or [""])[-1])
    reason = talk.refusal() or "its reply holds no code"
    said = f"the model wrote no design: {reason} (request {request.seed})"  # like no other's
    return Design(f"{NOTHING}raise RuntimeError({said!r})\n")


def _note(talk: Talk) -> str:
    """The plan in a sentence or two; failing that, the change it thought most important."""
    plan, reflection = talk.answer(PLANNED) or {}, talk.answer(IDEATE) or {}
    wishes = [change["what"] for change in reflection.get("changes", [])]
    said = plan.get("summary") or next(iter(wishes), "")
    return one_line(shortened(said, NOTE_TOKENS)) or "Written without a plan."
