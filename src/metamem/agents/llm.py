"""A language model that plays: told the rules, the goal, what happened so far, and the advice."""

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from typing import Literal, Protocol

from metamem.agents.llm_chat import Conversation
from metamem.agents.llm_prompt import as_example
from metamem.agents.llm_reply import chosen, written
from metamem.agents.llm_transcript import Transcript
from metamem.core.chat import Question, Turn
from metamem.core.errors import ModelRefused, UsageError
from metamem.core.needs import Needs, missing_model
from metamem.core.protocols import Chat, Seat
from metamem.core.types import Episode, Observation

CAREFUL = 0.85  # of the window is planned with
UNBOUNDED = 1 << 30
Form = Literal["chat", "transcript"]


@dataclass(frozen=True, slots=True)
class Showing:
    """How the model is shown what it plays: younger than the other settings."""

    form: Form = "chat"  # as turns of a conversation, or as one running text
    examples: int = 0  # worked ones, from tasks of train, with notes of the same memory
    example_tokens: int = 600  # the longest that is shown; half of it for its notes
    leave_out_tried: bool = False  # what was done before in the very same state
    list_actions: bool = True  # in the text; a server that holds replies to a list needs none

    def __post_init__(self) -> None:
        if self.form not in ("chat", "transcript"):
            raise UsageError(f"no form called {self.form!r}", hint="known: chat, transcript")
        if self.examples < 0 or self.example_tokens < 1:
            raise UsageError("examples must not be negative, example_tokens above zero")
        if not self.list_actions and self.form == "chat":
            raise UsageError("in the form chat actions are always listed")


@dataclass(frozen=True, slots=True)
class Settings:
    """How the agent asks its model. Each field is part of its fingerprint."""

    history_tokens: int = 6000  # of what happened so far; the oldest steps are summed up first
    reply_tokens: int = 64  # where the actions are a list
    form_tokens: int = 1024  # where the model writes the action itself
    think_tokens: int = 0  # above zero: thoughts of so many tokens before each action
    temperature: float | None = None

    def __post_init__(self) -> None:
        if min(self.history_tokens, self.reply_tokens, self.form_tokens) < 1:
            raise UsageError("the agent's token settings must be above zero")
        if self.think_tokens < 0:
            raise UsageError("think_tokens must not be negative")


class Telling(Protocol):
    """One form in which the model is told what it plays."""

    running: bool  # whether it is text to be continued

    def advise(self, advice: str) -> None: ...

    def turns(self, seen: Observation, actions: Sequence[str], room: int) -> tuple[Turn, ...]:
        """What to ask now, in so many tokens at most."""
        ...

    def acted(self, seen: Observation, action: str) -> None: ...


class LlmAgent:
    """Asks the model of the role `agent` for every action; any domain, any model."""

    needs = Needs(model="agent")

    def __init__(
        self,
        history_tokens: int = 6000,
        reply_tokens: int = 64,
        form_tokens: int = 1024,
        think_tokens: int = 0,
        temperature: float | None = None,
        form: Form = "chat",
        examples: int = 0,
        example_tokens: int = 600,
        leave_out_tried: bool = False,
        list_actions: bool = True,
    ) -> None:
        self.settings = Settings(
            history_tokens, reply_tokens, form_tokens, think_tokens, temperature
        )
        self.showing = Showing(form, examples, example_tokens, leave_out_tried, list_actions)
        if form == "transcript" and think_tokens:
            raise UsageError("a transcript has no place for thoughts", hint="leave form at chat")

    @property
    def fingerprint(self) -> str:
        s, shown = self.settings, self.showing
        named = (
            f"llm-1/{s.history_tokens}/{s.reply_tokens}/{s.form_tokens}/{s.think_tokens}"
            f"/{s.temperature}"
        )
        return named if shown == Showing() else f"{named}/{'/'.join(map(str, astuple(shown)))}"

    @property
    def examples(self) -> int:
        return self.showing.examples

    def shows(self, episode: Episode) -> bool:
        """Whether an example is short enough."""
        return bool(as_example(episode, self.showing.example_tokens))

    def start(self, seat: Seat) -> "LlmPlayer":
        if seat.chat is None:
            raise missing_model("agents", "llm")
        return LlmPlayer(self.settings, self.showing, seat, seat.chat)


class LlmPlayer:
    """The model at one task."""

    def __init__(self, settings: Settings, showing: Showing, seat: Seat, chat: Chat) -> None:
        self._set, self._seat, self._chat = settings, seat, chat
        examples = [as_example(e, showing.example_tokens) for e in seat.examples]
        examples = [text for text in examples if text][: showing.examples]
        history, thinks = settings.history_tokens, bool(settings.think_tokens)
        self._telling: Telling = (
            Conversation(seat, examples, history_tokens=history, thinks=thinks)
            if showing.form == "chat"
            else Transcript(seat, examples, history_tokens=history, lists=showing.list_actions)
        )
        self._leaves_out = showing.leave_out_tried
        self._tried: dict[tuple[str, tuple[str, ...]], set[str]] = {}  # by state

    def advise(self, advice: str) -> None:
        self._telling.advise(advice)

    async def act(self, observation: Observation) -> str:
        """The model's action; what it is not able to say is for the world to answer."""
        actions = self._offered(observation)
        listed = () if self._seat.forms else actions
        limit = self._set.reply_tokens if listed else self._set.form_tokens
        limit += self._set.think_tokens
        question = Question(
            self._telling.turns(observation, actions, self._room(limit)),
            choices=() if self._set.think_tokens else listed,
            max_tokens=limit,
            temperature=self._set.temperature,
            running=self._telling.running,
        )
        try:
            reply = (await self._chat.ask(question)).text
        except ModelRefused:
            reply = ""
        action = chosen(reply, listed) if listed else written(reply)
        self._telling.acted(observation, action)
        self._tried.setdefault((observation.text, observation.actions), set()).add(action)
        return action

    def _offered(self, observation: Observation) -> tuple[str, ...]:
        """The actions to choose from; all of them again where each was tried in this state."""
        if not self._leaves_out or self._seat.forms:
            return observation.actions
        tried = self._tried.get((observation.text, observation.actions), set())
        return tuple(a for a in observation.actions if a not in tried) or observation.actions

    def _room(self, reply: int) -> int:
        """Tokens for what is asked: the window less the reply, with care, since tokens are estimated."""
        return int(CAREFUL * self._seat.window) - reply if self._seat.window else UNBOUNDED
