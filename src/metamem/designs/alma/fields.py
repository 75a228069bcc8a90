"""A query or an experience as the fields that ALMA's four domains have.

ALFWorld, TextWorld and Baba give `obs`; MiniHack gives two contexts and a dict of actions. Which
of these a design was written for shows in the names that it uses, so it gets those: not all of
them, since many designs store or embed whatever the recorder holds.
"""

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from metamem.core.types import Experience, Message, Query, Step

_CONTEXTS = {"long_term_context", "short_term_context", "action_dict"}  # MiniHack's own


@dataclass(frozen=True, slots=True)
class Fields:
    """Which of the fields a design gets."""

    obs: bool  # obs and actions_list
    contexts: bool  # long_term_context, short_term_context and action_dict
    goal_in_obs: bool  # as in ALFWorld, where no other field has the goal

    @staticmethod
    def named_in(nodes: Iterable[ast.AST]) -> "Fields":
        texts = {
            node.value
            for node in nodes
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        }
        contexts = bool(texts & _CONTEXTS)
        looks_for_it = any("task is to" in text.lower() for text in texts)
        return Fields(
            obs="obs" in texts or not contexts,
            contexts=contexts,
            goal_in_obs=looks_for_it or ("obs" in texts and "goal" not in texts),
        )

    def init(self, seen: Query | Experience) -> dict[str, Any]:
        view = seen.observation
        if isinstance(seen, Experience) and seen.messages:
            view = "\n".join(filter(None, (view, *map(_line, seen.messages))))
        fields: dict[str, Any] = {}
        if self.obs:
            missing = self.goal_in_obs and seen.goal and seen.goal not in view
            fields["obs"] = f"{view}\n\nYour task is to: {seen.goal}" if missing else view
            fields["actions_list"] = list(seen.actions)
        if self.contexts:
            fields["long_term_context"] = view
            fields["short_term_context"] = ""
            fields["action_dict"] = {action: action for action in seen.actions}
        fields["goal"] = seen.goal
        return fields

    def steps(self, steps: Sequence[Step]) -> list[dict[str, Any]]:
        return [self._step(step) for step in steps]

    def _step(self, step: Step) -> dict[str, Any]:
        fields: dict[str, Any] = {"action_took": step.action}
        if self.obs:
            fields["obs"] = step.observation
        if self.contexts:
            fields["long_term_context"] = step.observation
            fields["short_term_context"] = ""
        fields |= {"scores": step.reward, "dones": step.done}
        if self.obs:
            fields["actions_list"] = list(step.actions)
        return fields


def _line(message: Message) -> str:
    said = f"{message.speaker}: {message.text}"
    return f"[{message.time}] {said}" if message.time else said
