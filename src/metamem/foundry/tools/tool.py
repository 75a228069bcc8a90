"""A tool: a program of its own, what has to be given to it, and who wrote it of what."""

from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from metamem.core.errors import MetamemError
from metamem.core.ids import content_id
from metamem.foundry.words import Occurrence, Trace, Use, Workflow

GivenKind = Literal["text", "path", "number", "list", "flag"]
_TYPES: Mapping[str, Mapping[str, Any]] = {
    "text": {"type": "string"},
    "path": {"type": "string", "description": "a path inside of the tree"},
    "number": {"type": ["number", "string"]},
    "list": {"type": "array", "items": {"type": "string"}},
    "flag": {"type": "boolean", "description": "also do a step that is not always done"},
}


@dataclass(frozen=True, slots=True)
class Case:
    """One recorded time that a workflow was carried out, with the session in which that was."""

    trace: Trace
    occurrence: Occurrence

    @property
    def id(self) -> str:
        return content_id(self.trace.host, self.trace.session, list(self.occurrence.uses))

    @property
    def uses(self) -> tuple[Use, ...]:
        wanted = set(self.occurrence.uses)
        return tuple(use for use in self.trace.uses if use.id in wanted)


@dataclass(frozen=True, slots=True)
class Given:
    """A parameter of a tool. There are no defaults: nothing recorded stands in for what a caller says."""

    name: str
    kind: GivenKind
    required: bool = True
    examples: tuple[Any, ...] = ()
    about: str = ""  # of a flag, the step that it asks for


@dataclass(frozen=True, slots=True)
class Tool:
    name: str
    description: str
    program: str  # the whole text of a Python program that needs nothing but the standard library
    given: tuple[Given, ...]
    workflow: str  # the id of the workflow that it does
    writer: str

    @property
    def id(self) -> str:
        return content_id(self.name, self.program)

    def schema(self) -> dict[str, Any]:
        """What has to be given, as a JSON schema."""
        return {
            "type": "object",
            "properties": {
                g.name: {
                    **_TYPES[g.kind],
                    **({"description": f"also do: {g.about}"} if g.about else {}),
                    **({"examples": list(g.examples)} if g.examples else {}),
                }
                for g in self.given
            },
            "required": [g.name for g in self.given if g.required],
            "additionalProperties": False,
        }


class NotYet(MetamemError):
    """There is no tool yet: somebody was asked for it who has not answered."""


class Writer(Protocol):
    """Whoever writes tools: the template, a model, another agent."""

    name: str

    def write(self, workflow: Workflow, cases: Sequence[Case]) -> Tool | Awaitable[Tool]:
        """A tool that does the workflow; `NotATool` with the reason where there can be none, `NotYet`
        where somebody was asked for it.

        `cases` are those that may be looked at. The ones that it is judged by are never among them.
        """
        ...
