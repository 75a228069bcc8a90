"""The family tree: generations from left to right, the learned design's line in colour."""

from dataclasses import dataclass, field

from markupsafe import Markup

from metamem.core.ids import short
from metamem.store.archive import ProposalRecord
from metamem.web.journal import Journal
from metamem.web.plots.svg import element, picture, text

WHOLE = 70  # designs; a larger tree shows the line and what stands beside it
ROW, COLUMN, LEFT, TOP = 19, 148, 10, 14


@dataclass
class _Node:
    proposal: ProposalRecord
    depth: int
    children: list["_Node"] = field(default_factory=list)
    hidden: int = 0  # descendants that are not shown
    y: float = 0.0

    @property
    def design(self) -> str:
        return str(self.proposal.design_id)


def family_plot(journal: Journal, learned: str | None, names: dict[str, str]) -> Markup:
    line = set(journal.lineage(learned)) if learned else set()
    whole = len(journal.by_design) <= WHOLE
    roots = [_grow(journal, root, 0, line, whole) for root in journal.roots]
    rows = 0
    for root in roots:
        rows = _place(root, rows)
    nodes = [node for root in roots for node in _all(root)]
    deepest = max(node.depth for node in nodes)
    width = LEFT + COLUMN * (deepest + 1) + 30
    height = 2 * TOP + ROW * rows
    return picture(
        max(width, 420),
        height,
        "Family tree",
        _words(journal, learned, line, whole),
        *(_edge(node, child, line) for node in nodes for child in node.children),
        *(_lender(node, nodes, line) for node in nodes if node.design in line),
        *(_label(node, line, learned, names) for node in nodes),
    )


def _grow(journal: Journal, proposal: ProposalRecord, depth: int, line: set[str], whole: bool) -> _Node:
    node = _Node(proposal, depth)
    children = journal.children(node.design)
    if whole or node.design in line or depth == 0 and not line:
        node.children = [_grow(journal, child, depth + 1, line, whole) for child in children]
    else:
        node.hidden = _count(journal, node.design)
    return node


def _count(journal: Journal, design: str) -> int:
    children = [str(child.design_id) for child in journal.children(design)]
    return len(children) + sum(_count(journal, child) for child in children)


def _place(node: _Node, row: int) -> int:
    """Leaves take a row each, parents stand beside the middle of their children."""
    if not node.children:
        node.y = TOP + ROW * (row + 0.5)
        return row + 1
    for child in node.children:
        row = _place(child, row)
    node.y = (node.children[0].y + node.children[-1].y) / 2
    return row


def _all(node: _Node) -> list[_Node]:
    return [node, *(found for child in node.children for found in _all(child))]


def _x(node: _Node) -> float:
    return LEFT + COLUMN * node.depth


def _edge(parent: _Node, child: _Node, line: set[str]) -> Markup:
    start, end = _x(parent) + 6, _x(child) - 6
    middle = end - 16
    path = f"M{start:.1f} {parent.y:.1f} H{middle:.1f} L{end:.1f} {child.y:.1f}"
    if abs(parent.y - child.y) > ROW / 2:
        path = (
            f"M{start:.1f} {parent.y + 6:.1f} C{start:.1f} {child.y:.1f} "
            f"{start + 8:.1f} {child.y:.1f} {end:.1f} {child.y:.1f}"
        )
    marked = parent.design in line and child.design in line
    return element("path", d=path, class_="edge-line" if marked else "edge", fill="none")


def _lender(node: _Node, nodes: list[_Node], line: set[str]) -> Markup:
    """Dashed: a design that lent parts to one of the line."""
    others = [n for n in nodes if n.design in node.proposal.parents[1:] and n is not node]
    return Markup("").join(
        element(
            "path",
            d=f"M{_x(n):.1f} {n.y:.1f} L{_x(node):.1f} {node.y:.1f}",
            class_="edge-lent",
            fill="none",
        )
        for n in others
    )


def _label(node: _Node, line: set[str], learned: str | None, names: dict[str, str]) -> Markup:
    proposal = node.proposal
    assert proposal.estimate is not None
    score = f"{100 * proposal.estimate['mean']:.0f}"
    human = proposal.operator == "human"
    name = names.get(node.design, "") if human else ""
    words = f"{name or short(node.design)} {score}"
    if not proposal.estimate["complete"]:
        words += " (raced out)"
    if node.hidden:
        words += f" +{node.hidden}"
    kind = "dot-learned" if node.design == learned else "dot-human" if human else "dot"
    if not proposal.estimate["complete"]:
        kind = "dot-raced"
    tip = element("title", f"{short(node.design)} {proposal.operator}: {proposal.note}")
    return Markup("").join(
        [
            element("circle", tip, cx=_x(node), cy=node.y, r=4.5, class_=kind),
            text(
                _x(node) + 8,
                node.y + 4,
                words,
                "node marked" if node.design in line else "node",
            ),
        ]
    )


def _words(journal: Journal, learned: str | None, line: set[str], whole: bool) -> str:
    words = f"{len(journal.by_design)} designs from {len(journal.roots)} roots."
    if learned and line:
        steps = [short(design) for design in reversed(journal.lineage(learned))]
        words += f" The learned design's line, oldest first: {', '.join(steps)}."
    if not whole:
        words += " Only that line and what stands beside it is shown; +n counts what is left out."
    return words
