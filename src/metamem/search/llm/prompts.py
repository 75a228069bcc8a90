"""The prompts, which are files beside this one."""

from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from metamem.core.ids import content_id
from metamem.search.manual import manual


def as_data(text: str) -> str:
    """Text between lines that it cannot hold itself: they name its own digest."""
    code = content_id("data", text)[:8]
    return f"<<<data {code}\n{text.strip()}\ndata {code}>>>"


# Prompts are plain text: nothing in them is ever shown as a page.
_PROMPTS = Environment(
    loader=PackageLoader("metamem.search.llm", "prompts"),
    undefined=StrictUndefined,
    autoescape=False,
)
_PROMPTS.globals["data"] = as_data


def render(name: str, **values: Any) -> str:
    return _PROMPTS.get_template(f"{name}.md").render(values).strip()


def system() -> str:
    return render("system", manual=manual())
