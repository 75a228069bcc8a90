"""What proposers and agents declare that they need: so that nobody has to know them by name."""

from dataclasses import dataclass
from typing import Literal

from metamem.core import registry
from metamem.core.chat import Role
from metamem.core.errors import ModelUnavailable, UsageError

_ROLES: dict[str, Role] = {"proposers": "meta", "agents": "agent"}  # whose models each is given
_EXAMPLES = {"meta": "openai:gpt-5", "agent": "openai:gpt-5-nano/low"}


@dataclass(frozen=True, slots=True)
class Needs:
    """What somebody cannot work without, declared as the class attribute `needs`.

    Where that depends on the data that a name says, `needs` is a function of it. A proposer that needs anything is made with a `ProposerContext`; an agent finds it in its `Seat`.
    """

    model: Role | Literal[""] = ""  # the role whose models it asks: `meta` or `agent`
    folder: bool = False  # a folder of its own, which stays with the run (proposers only)
    somebody: str = ""  # it waits for somebody, who is told this when a run starts (proposers only)


NOTHING = Needs()


def needs_of(kind: str, name: str) -> Needs:
    """What the proposer or agent of a name declares; nothing where it says nothing."""
    needs = getattr(registry.factory(kind, name), "needs", NOTHING)
    if callable(needs):
        needs = needs(**registry.spelled_out(kind, name, {})[1])
    what, role = f"the {kind[:-1]} {name!r}", _ROLES[kind]
    if not isinstance(needs, Needs):
        raise UsageError(f"{what} declares needs that are no Needs(...): {needs!r}")
    if needs.model not in ("", role):
        raise UsageError(
            f"{what} needs a model of the role {needs.model!r}, which {kind} are not given",
            hint=f"{kind} are given models of the role {role}",
        )
    if kind == "agents" and (needs.folder or needs.somebody):
        raise UsageError(f"{what} needs what agents are not given", hint="they are given a model")
    return needs


def missing_model(kind: str, name: str) -> ModelUnavailable:
    """For a proposer or agent that asks a model where none is named."""
    role = _ROLES[kind]
    return ModelUnavailable(
        f"the {kind[:-1]} {name} needs a model",
        hint=f"give --model {role}=NAME, such as --model {role}={_EXAMPLES[role]}",
    )
