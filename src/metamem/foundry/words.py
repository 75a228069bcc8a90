"""The words of Foundry: what agents did with their tools, and what is made of it.

A *use* is one call of a tool, as it is kept: secrets taken out before. A *trace* is a session's uses in
their order. A *workflow* is what several traces have in common, with parameters where they differ. An
*occurrence* is one place in a trace where a workflow was carried out. Times are milliseconds since 1970.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from metamem.core.ids import content_id

OutcomeBy = Literal["tests", "exit", "commit", "correction", "unknown"]
ParameterKind = Literal["text", "path", "number", "list"]


@dataclass(frozen=True, slots=True)
class Use:
    """One call of a tool and what came of it."""

    id: str  # the host's, one in its session
    tool: str
    arguments: Mapping[str, Any]
    result: str = ""
    error: str = ""
    failed: bool | None = None  # None where nobody says
    exit_code: int | None = None
    at: int | None = None
    milliseconds: int | None = None
    prompt: str = ""  # the line of the user that it serves
    group: str = ""  # uses that were begun at once
    agent: str = ""  # the sub-agent whose it is; the session's own where empty
    redacted: bool = False  # something was taken out: it cannot be done again as it was


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a session ended, by the best sign of it there is, and how sure that is."""

    by: OutcomeBy = "unknown"
    success: bool | None = None
    confidence: float = 0.0


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The tree that a session began with: a commit and what was changed since."""

    folder: str
    commit: str
    diff: str = ""
    at: int = 0
    # From a tree of which something had to be left out, or that was looked at late, nothing can be replayed.
    whole: bool = True
    late: bool = False  # tools had been used already: it may hold what they did


@dataclass(frozen=True, slots=True)
class Trace:
    """A session's uses in their order."""

    scope: str  # tenant/kind/name
    host: str
    session: str
    uses: tuple[Use, ...]
    prompts: Mapping[str, str] = field(default_factory=dict)  # what the user asked for, by id
    outcome: Outcome = Outcome()
    snapshot: Snapshot | None = None
    started_at: int | None = None
    ended_at: int | None = None


@dataclass(frozen=True, slots=True)
class Hole:
    """Where a parameter stands in a template."""

    name: str


# A JSON value in which some leaves are holes. Part of a text is a sequence of texts and holes.
Template = Any


@dataclass(frozen=True, slots=True)
class Pieces:
    """A text with holes in it."""

    parts: tuple[str | Hole, ...]


@dataclass(frozen=True, slots=True)
class Flow:
    """A value that an earlier step's output holds: what stands there between two texts, or all of it."""

    step: int
    before: str = ""
    after: str = ""


@dataclass(frozen=True, slots=True)
class Parameter:
    """What differs from one occurrence to the next."""

    name: str
    kind: ParameterKind = "text"
    flow: Flow | None = None  # found while it runs; whoever calls must give it where this is None
    examples: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class Step:
    """One use with holes."""

    tool: str
    arguments: Template
    optional: bool = False  # left out in some occurrences
    each: str = ""  # the list over whose items it is done; the hole of that name is the item


@dataclass(frozen=True, slots=True)
class Occurrence:
    """Where a workflow was carried out: which uses, with which values, and whether it worked."""

    session: str
    uses: tuple[str, ...]
    values: Mapping[str, Any]
    success: bool


@dataclass(frozen=True, slots=True)
class Workflow:
    """Steps that agents repeat. Its id is that of its steps and parameters, whoever did them."""

    goal: str  # in the words of those who asked for it
    steps: tuple[Step, ...]
    parameters: tuple[Parameter, ...]
    occurrences: tuple[Occurrence, ...] = ()

    @property
    def id(self) -> str:
        steps = [[s.tool, template_json(s.arguments), s.optional, s.each] for s in self.steps]
        given = [[p.name, p.kind, _flow_json(p.flow)] for p in self.parameters]
        return content_id(steps, given)


def template_json(template: Template) -> Any:
    """A template as plain JSON; no value can be taken for a hole."""
    if isinstance(template, Hole):
        return {"hole": template.name}
    if isinstance(template, Pieces):
        return {"pieces": [template_json(part) for part in template.parts]}
    if isinstance(template, Mapping):
        return {"object": {str(name): template_json(value) for name, value in template.items()}}
    if isinstance(template, Sequence) and not isinstance(template, str):
        return {"array": [template_json(value) for value in template]}
    return template


def template_of(given: Any) -> Template:
    """The template that `template_json` wrote."""
    if not isinstance(given, Mapping):
        return given
    ((kind, content),) = given.items()
    if kind == "hole":
        return Hole(content)
    if kind == "pieces":
        return Pieces(tuple(template_of(part) for part in content))
    if kind == "object":
        return {name: template_of(value) for name, value in content.items()}
    return [template_of(value) for value in content]


def filled(template: Template, values: Mapping[str, Any]) -> Any:
    """A template with values in its holes."""
    if isinstance(template, Hole):
        return values[template.name]
    if isinstance(template, Pieces):
        return "".join(
            part if isinstance(part, str) else str(values[part.name]) for part in template.parts
        )
    if isinstance(template, Mapping):
        return {name: filled(value, values) for name, value in template.items()}
    if isinstance(template, Sequence) and not isinstance(template, str):
        return [filled(value, values) for value in template]
    return template


def _flow_json(flow: Flow | None) -> Any:
    return None if flow is None else [flow.step, flow.before, flow.after]
