"""Components as they were some versions ago."""

import re
from dataclasses import replace

from metamem.store import Component


def earlier(component: Component, version: int) -> Component:
    """A component as that version of it was, with the tables that there were."""
    steps = component.steps[:version]
    text = "\n".join(str(statement) for step in steps for statement in step)
    made = set(re.findall(r"CREATE TABLE (\w+)", text))
    return replace(
        component,
        steps=steps,
        append_only=tuple(table for table in component.append_only if table in made),
        erasable=tuple(table for table in component.erasable if table in made),
        changeable=tuple(table for table in component.changeable if table in made),
    )
