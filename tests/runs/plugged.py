"""Plug-ins, each named by its path: a proposer and an agent that ask a model, one that waits."""

from typing import ClassVar

from metamem.core.chat import Question, Turn
from metamem.core.needs import Needs
from metamem.core.protocols import Chat, Seat
from metamem.core.types import Design, Observation
from metamem.search.proposer import Proposal, ProposerContext, Request


class Scribe:
    """Has a model write each design in one go."""

    needs = Needs(model="meta")
    made: ClassVar[list[ProposerContext]] = []  # what the proposers of this process were given

    def __init__(self, context: ProposerContext, please: str = "") -> None:
        self.made.append(context)
        self.please = please

    async def propose(self, request: Request) -> Proposal:
        (chat,) = request.chats.values()
        asked = f"{self.please}Import metamem.designs and write design {request.seed}."
        reply = await chat.ask(Question((Turn("user", asked),)))
        source = reply.text.removeprefix("```python\n").removesuffix("```")
        parents = tuple(view.design.id for view in request.parents[:1])
        return Proposal(Design(source), parents, "scribe", asked, cost=float(reply.usage.total))


class Chooser:
    """Lets a model choose each action."""

    needs = Needs(model="agent")
    fingerprint = "chooser-1"

    def start(self, seat: Seat) -> "ChooserAtPlay":
        assert seat.chat is not None and seat.window > 0
        return ChooserAtPlay(seat.chat)


class ChooserAtPlay:
    def __init__(self, chat: Chat) -> None:
        self.chat = chat

    def advise(self, advice: str) -> None:
        pass

    async def act(self, observation: Observation) -> str:
        turn = Turn("user", observation.text)
        reply = await self.chat.ask(Question((turn,), choices=observation.actions))
        return reply.text


class Waiting:
    """Keeps its requests in its folder, waits for nobody really, and hands in copies."""

    needs = Needs(folder=True, somebody="Somebody is to write designs")

    def __init__(self, context: ProposerContext) -> None:
        assert context.folder is not None and context.window == 0
        self.folder, self.on_wait = context.folder, context.on_wait
        self.folder.mkdir(parents=True)

    async def propose(self, request: Request) -> Proposal:
        self.on_wait(True)
        (self.folder / str(request.seed)).touch()
        self.on_wait(False)
        parent = request.parents[0].design
        return Proposal(parent, (parent.id,), "waiting", "a copy")


class Greedy:
    """An agent that wants what agents are not given."""

    needs = Needs(model="meta")


class Closed:
    """A proposer that declares a need and has no place for what it gets."""

    needs = Needs(somebody="Write something")


class Vague:
    """A proposer whose needs are no declaration."""

    needs = "a model"


class Copying:
    """Hands in the values that it was given."""

    kind = "params"

    async def propose(self, request: Request) -> Proposal:
        given = request.parents[0].design
        return Proposal(given, (given.id,), "copy", "nothing is changed")
