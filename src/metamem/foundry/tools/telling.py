"""How agents are told of a tool, in as few words as it takes: every session pays for them.

One way in which people asked for it, with the parameters in their places, says what each of them is. Only for
those that it does not name an example is given.
"""

import json
import re
from collections.abc import Sequence
from typing import Any

from metamem.foundry.tools.tool import Tool

_HOLE = re.compile(r"<[a-z][a-z0-9_]*>")
_WORD = re.compile(r"[^\W\d_]{3,}")


def described(tool: Tool) -> str:
    """The way of asking that has most of the words of the others, of those that name all that has to be
    given; else all ways there are."""
    asked = ways(tool.description)
    needed = [f"<{given.name}>" for given in tool.given if given.required]
    fitting = [way for way in asked if all(name in way for name in needed)]
    return max(fitting, key=lambda way: (_covers(way, asked), -len(way)), default=tool.description)


def ways(description: str) -> list[str]:
    """In which words people asked for it."""
    return description.split(" / ")


def without_holes(way: str) -> str:
    """A way of asking without its parameters."""
    return _HOLE.sub(" ", way)


def in_words(tool: Tool) -> str:
    """What a host lists beside the tool's name."""
    return f"In one call: {described(tool)}"


def listed(name: str, tool: Tool) -> str:
    """All that an agent is told of it before it uses it, without what a host puts around it: the name, the
    words, and examples of what these do not say."""
    shown = {
        given: some for given, some in examples(tool).items() if f"<{given}>" not in described(tool)
    }
    return f"{name}: {in_words(tool)}" + (f" {json.dumps(shown)}" if shown else "")


def _covers(way: str, ways: Sequence[str]) -> float:
    own = _words(way)
    return sum(len(own & _words(other)) / max(1, len(_words(other))) for other in ways)


def _words(text: str) -> set[str]:
    return set(_WORD.findall(without_holes(text).lower()))


def examples(tool: Tool) -> dict[str, tuple[Any, ...]]:
    """What has to be given, with an example where the description does not say what it is."""
    told = described(tool)
    return {
        given.name: () if f"<{given.name}>" in told else given.examples[:1]
        for given in tool.given
        if given.required
    }


def schema(tool: Tool) -> dict[str, Any]:
    """What has to be given, as a JSON schema."""
    made, told = tool.schema(), described(tool)
    properties = {}
    for name, about in made["properties"].items():
        kept = {key: value for key, value in about.items() if key != "examples"}
        if "examples" in about and f"<{name}>" not in told:
            kept["examples"] = about["examples"][:1]
        properties[name] = kept
    return {**made, "properties": properties}
