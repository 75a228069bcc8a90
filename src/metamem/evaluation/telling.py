"""What memory said in an episode as one text: each time that it was asked has its own heading."""

from collections.abc import Sequence

from metamem.core.types import Advice


def told(advice: Sequence[Advice]) -> str:
    """What was said first stands alone; what was said again says when and why."""
    if not any(each.text for each in advice):
        return ""
    parts: list[str] = []
    known = ""
    for each in advice:
        if each.at == 0 and not parts:
            parts.append(each.text)
        elif not each.text:
            parts.append(f"({_again(each)}: nothing to add)")
        elif each.text == known:
            parts.append(f"({_again(each)}: the same)")
        else:
            parts.append(f"({_again(each)})\n\n{each.text}")
        known = each.text or known
    return "\n\n".join(part for part in parts if part)


def _again(advice: Advice) -> str:
    when = f" after action {advice.at}" if advice.at else ""
    return f"asked again{when}" + (f", because of {advice.why}" if advice.why else "")
