"""Score over designs: every design's estimate by its number, and the best so far."""

from collections.abc import Sequence

from markupsafe import Markup

from metamem.core.ids import short
from metamem.store.archive import ProposalRecord
from metamem.web.plots.svg import (
    Scale,
    element,
    line,
    picture,
    polyline,
    share_ticks,
    text,
    ticks,
)

WIDTH, HEIGHT = 900, 340
LEFT, RIGHT, TOP, BOTTOM = 52, 16, 22, 44


def search_plot(
    main: Sequence[ProposalRecord], control: Sequence[ProposalRecord], learned: str | None
) -> Markup:
    """`main` and `control` are evaluated proposals, in order; `main` has at least one."""
    shown = [*main, *control]
    marks = share_ticks(min(map(_score, shown)), max(map(_score, shown)))
    last = max(1, *(p.ordinal for p in shown))
    x = Scale(0, last, LEFT + 8, WIDTH - RIGHT)
    y = Scale(marks[0], marks[-1], HEIGHT - BOTTOM, TOP)
    parts = [_axes(marks, x, y)]
    parts.append(polyline(_best(main, x, y), "line-best"))
    if control:
        parts.append(polyline(_best(control, x, y), "line-control"))
    parts += [_dot(p, x, y, learned) for p in main]
    return picture(WIDTH, HEIGHT, "Score over designs", _words(main, control), *parts)


def _score(proposal: ProposalRecord) -> float:
    assert proposal.estimate is not None
    return 100 * float(proposal.estimate["mean"])


def _complete(proposal: ProposalRecord) -> bool:
    return proposal.estimate is not None and bool(proposal.estimate["complete"])


def _axes(marks: Sequence[float], x: Scale, y: Scale) -> Markup:
    parts = [text(4, 12, "success % on train", "tick")]
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


def _best(proposals: Sequence[ProposalRecord], x: Scale, y: Scale) -> list[tuple[float, float]]:
    """Stairs along the best complete score so far; what was raced out is only an estimate."""
    points: list[tuple[float, float]] = []
    best: float | None = None
    for proposal in proposals:
        if not _complete(proposal) or (best is not None and _score(proposal) <= best):
            continue
        if best is not None:
            points.append((x(proposal.ordinal), y(best)))
        best = _score(proposal)
        points.append((x(proposal.ordinal), y(best)))
    if best is not None:
        points.append((x(x.high), y(best)))
    return points


def _dot(proposal: ProposalRecord, x: Scale, y: Scale, learned: str | None) -> Markup:
    # The estimate of what was raced out may leave 0 to 100; its dot stays at the edge.
    at, height = x(proposal.ordinal), y(min(max(_score(proposal), y.low), y.high))
    name = f"{short(proposal.design_id or '')} ({proposal.operator}): {_score(proposal):.1f} %"
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


def _words(main: Sequence[ProposalRecord], control: Sequence[ProposalRecord]) -> str:
    humans = [p for p in main if p.operator == "human"]
    found = [p for p in main if p.operator != "human" and _complete(p)]
    words = [f"{len(main)} designs were evaluated"]
    if humans:
        words.append(f"the best human design had {max(map(_score, humans)):.1f} %")
    if found:
        words.append(f"the best learned one {max(map(_score, found)):.1f} %")
    by_chance = [p for p in control if p.operator != "human" and _complete(p)]
    if by_chance:
        words.append(f"the best of random recombination {max(map(_score, by_chance)):.1f} %")
    return ", ".join(words) + "."
