"""Nothing is promoted that is not there to be looked at, and to be put into use."""

from collections.abc import Callable, Mapping
from typing import Any

from metamem.core.errors import UsageError
from metamem.core.ids import canonical_json, content_id
from metamem.core.types import Design
from metamem.store.records import Subject, SubjectKind

Evidence = Mapping[str, Any]
IsThere = Callable[[Subject, Evidence], bool]
Contents = Mapping[SubjectKind, IsThere]
NO_CONTENTS: Contents = {}


def parameters_id(values: Mapping[str, Any]) -> str:
    """The id of a set of parameters."""
    return Design(canonical_json(dict(values)), "params").id


def policy_id(name: str, policy: Any) -> str:
    """The id of a policy, which is some plain JSON."""
    return content_id(name, policy)


def _has_values(subject: Subject, evidence: Evidence) -> bool:
    return "values" in evidence and parameters_id(evidence["values"]) == subject.id


def _has_policy(subject: Subject, evidence: Evidence) -> bool:
    """A policy is told in its evidence, under its own name."""
    name = subject.name
    return name in evidence and policy_id(name, evidence[name]) == subject.id


_BUILT_IN: Contents = {
    "design": lambda subject, evidence: True,  # the archive itself refuses one that it lacks
    "parameters": _has_values,
    "policy": _has_policy,
}


def check_content(subject: Subject, evidence: Evidence, contents: Contents) -> None:
    """`contents` is asked first; what neither it nor this module knows how to find is refused."""
    is_there = contents.get(subject.kind) or _BUILT_IN.get(subject.kind)
    if is_there is None:
        raise UsageError(
            f"where the content of a {subject.kind} lies is not known here",
            hint=f"open the ledger with it: Ledger(archive, {{{subject.kind!r}: ...}})",
        )
    if not is_there(subject, evidence):
        raise UsageError(
            f"there is no {subject.kind} {subject.id!r} to promote",
            hint="what is promoted must be there, under the id of its content",
        )
