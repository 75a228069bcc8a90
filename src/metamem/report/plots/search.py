"""Score over designs: every design's estimate by its number, and the best so far."""

from collections.abc import Sequence

from markupsafe import Markup

from metamem.core.figures import SHARES
from metamem.core.figures import Scale as Rewards
from metamem.core.ids import short
from metamem.report.plots.svg import (
    Scale,
    element,
    line,
    picture,
    polyline,
    reward_ticks,
    text,
    ticks,
)
from metamem.store.archive import ProposalRecord

WIDTH, HEIGHT = 900, 340
LEFT, RIGHT, TOP, BOTTOM = 52, 16, 22, 44


def search_plot(
    main: Sequence[ProposalRecord],
    control: Sequence[ProposalRecord],
    learned: str | None,
    *,
    rewards: Rewards = SHARES,
    blind: str = "random recombination",
) -> Markup:
    """`main` and `control` are evaluated proposals, in order; `main` has at least one.

    `blind` says what the control does.
    """
    shown = [rewards.number(_mean(p)) for p in (*main, *control)]
    marks = reward_ticks(min(shown), max(shown), rewards)
    last = max(1, *(p.ordinal for p in (*main, *control)))
    x = Scale(0, last, LEFT + 8, WIDTH - RIGHT)
    y = Scale(marks[0], marks[-1], HEIGHT - BOTTOM, TOP)
    parts = [_axes(marks, x, y, rewards)]
    parts.append(polyline(_best(main, x, y, rewards), "line-best"))
    if control:
        parts.append(polyline(_best(control, x, y, rewards), "line-control"))
    parts += [_dot(p, x, y, learned, rewards) for p in main]
    words = _words(main, control, rewards, blind)
    return picture(WIDTH, HEIGHT, "Score over designs", words, *parts)


def _mean(proposal: ProposalRecord) -> float:
    assert proposal.estimate is not None
    return float(proposal.estimate["mean"])


def _complete(proposal: ProposalRecord) -> bool:
    return proposal.estimate is not None and bool(proposal.estimate["complete"])


def _axes(marks: Sequence[float], x: Scale, y: Scale, rewards: Rewards) -> Markup:
    parts = [text(4, 12, f"{rewards.heading} on train", "tick")]
    for mark in marks:
        parts.append(line(LEFT, y(mark), WIDTH - RIGHT, y(mark), "grid"))
        parts.append(text(LEFT - 8, y(mark) + 4, f"{mark:g}", "tick", "end"))
    for mark in ticks(0, x.high, 8):
        if mark == int(mark) and mark <= x.high:
            parts.append(text(x(mark), HEIGHT - BOTTOM + 18, f"{mark:g}", "tick", "middle"))
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts.append(
        text(middle, HEIGHT - 8, "designs in the order they were proposed", "tick", "middle")
    )
    return Markup("").join(parts)


def _best(
    proposals: Sequence[ProposalRecord], x: Scale, y: Scale, rewards: Rewards
) -> list[tuple[float, float]]:
    """Stairs along the best complete score so far; what was raced out is only an estimate."""
    points: list[tuple[float, float]] = []
    best: float | None = None
    for proposal in proposals:
        score = rewards.number(_mean(proposal))
        if not _complete(proposal) or (best is not None and score <= best):
            continue
        if best is not None:
            points.append((x(proposal.ordinal), y(best)))
        best = score
        points.append((x(proposal.ordinal), y(best)))
    if best is not None:
        points.append((x(x.high), y(best)))
    return points


def _dot(
    proposal: ProposalRecord, x: Scale, y: Scale, learned: str | None, rewards: Rewards
) -> Markup:
    # The estimate of what was raced out may leave the range of rewards; its dot stays at the edge.
    mean = _mean(proposal)
    at, height = x(proposal.ordinal), y(min(max(rewards.number(mean), y.low), y.high))
    score = f"{rewards.value(mean)}{rewards.unit}"
    name = f"{short(proposal.design_id or '')} ({proposal.operator}): {score}"
    if not _complete(proposal):
        name += ", raced out: an estimate"
    label = element("title", name)
    if proposal.operator == "human":
        corner = {"x": at - 5, "y": height - 5, "width": 10, "height": 10}
        return element("rect", label, class_="dot-human", **corner)
    if proposal.design_id == learned:
        return element("circle", label, cx=at, cy=height, r=7, class_="dot-learned")
    kind = "dot" if _complete(proposal) else "dot-raced"
    return element("circle", label, cx=at, cy=height, r=3.5, class_=kind)


def _words(
    main: Sequence[ProposalRecord],
    control: Sequence[ProposalRecord],
    rewards: Rewards,
    blind: str,
) -> str:
    def best(some: Sequence[ProposalRecord]) -> str:
        return f"{rewards.value(max(map(_mean, some)))}{rewards.unit}"

    humans = [p for p in main if p.operator == "human"]
    found = [p for p in main if p.operator != "human" and _complete(p)]
    words = [f"{len(main)} designs were evaluated"]
    if humans:
        words.append(f"the best human design had {best(humans)}")
    if found:
        words.append(f"the best learned one {best(found)}")
    by_chance = [p for p in control if p.operator != "human" and _complete(p)]
    if by_chance:
        words.append(f"the best of {blind} {best(by_chance)}")
    return ", ".join(words) + "."
