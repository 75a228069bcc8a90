"""Why an arm was drawn, in words."""

from collections.abc import Mapping

from metamem.routing.choosing import Speaking
from metamem.routing.words import Belief, Choice


def why(choice: Choice, speaks: Mapping[str, Speaking]) -> str:
    """One paragraph, in the router's own terms."""
    if len(choice.beliefs) == 1:
        return f"{choice.arm} was the only arm allowed: there was nothing to choose."
    drawn, best = choice.drawn, choice.best
    told = [f"{choice.arm} was drawn with a propensity of {choice.propensity:.3f}"]
    if _level(drawn) < _level(best):
        told[0] += (
            f" to learn more of it: {best.arm} is expected to be worth more ({_worth(best)}, against"
            f" {_worth(drawn)})."
        )
    else:
        others = [b for b in choice.beliefs if b.arm != choice.arm]
        alike = " and ".join(b.arm for b in others if _level(b) == _level(drawn))
        most = f"as much as {alike}" if alike else "most"
        told[0] += f"; it is expected to be worth {most}, {_worth(drawn)}."
        told.append("Of the others: " + "; ".join(f"{b.arm} {_worth(b)}" for b in others) + ".")
    if said := speaks.get(choice.arm):
        told.append(
            f"What moves {choice.arm} from the average arm: "
            + ", ".join(f"{word!r} {moved:+.3f}" for word, moved in said)
            + "."
        )
    return " ".join(told)


def _level(belief: Belief) -> float:
    """As it is shown: what looks alike is not told as more or less."""
    return round(belief.worth, 2)


def _worth(belief: Belief) -> str:
    parts = [f"success {belief.success:.2f}"]
    parts += [f"cost {belief.cost:.3g}"] if belief.cost else []
    parts += [f"latency {belief.latency:.3g}"] if belief.latency else []
    seen = "1 outcome" if belief.seen == 1 else f"{belief.seen} outcomes"
    return f"{belief.worth:.2f} ± {belief.spread:.2f} ({', '.join(parts)}; {seen})"
