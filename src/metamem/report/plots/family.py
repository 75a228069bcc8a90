"""The family tree: a row a design, children below their parent, the learned line in colour."""

from dataclasses import dataclass

from markupsafe import Markup

from metamem.core.figures import SHARES, Scale
from metamem.core.ids import short
from metamem.report.journal import Journal
from metamem.report.plots.svg import element, picture, text
from metamem.store.archive import ProposalRecord

WHOLE = 80  # designs; a larger tree shows the line and what stands beside it
WIDTH, ROW, INDENT, LEFT, TOP = 900, 20, 24, 12, 8
DEEPEST = 480  # pixels of indentation; a deeper tree is indented less
LETTER = 6.7  # pixels, about


@dataclass(frozen=True, slots=True)
class _Node:
    proposal: ProposalRecord
    row: int
    depth: int
    parent_row: int | None
    hidden: int  # descendants that are not shown

    @property
    def design(self) -> str:
        return str(self.proposal.design_id)

    @property
    def y(self) -> float:
        return _y(self.row)


def _y(row: int) -> float:
    return TOP + ROW * (row + 0.5)


def family_plot(
    journal: Journal, learned: str | None, names: dict[str, str], rewards: Scale = SHARES
) -> Markup:
    line = set(journal.lineage(learned)) if learned else set()
    whole = len(journal.by_design) <= WHOLE
    nodes: list[_Node] = []
    for root in journal.roots:
        _add(nodes, journal, root, 0, None, line, whole)
    indent = min(INDENT, DEEPEST / max(1, *(node.depth for node in nodes)))
    return picture(
        WIDTH,
        2 * TOP + ROW * len(nodes),
        "Family tree",
        _words(journal, learned, whole),
        *(_edge(node, indent, False) for node in nodes if node.design not in line),
        *(_edge(node, indent, True) for node in nodes if node.design in line),
        *(_label(node, indent, line, learned, names, rewards) for node in nodes),
    )


def _add(
    nodes: list[_Node],
    journal: Journal,
    proposal: ProposalRecord,
    depth: int,
    parent_row: int | None,
    line: set[str],
    whole: bool,
) -> None:
    design = str(proposal.design_id)
    opened = whole or design in line
    hidden = 0 if opened else _count(journal, design)
    row = len(nodes)
    nodes.append(_Node(proposal, row, depth, parent_row, hidden))
    if opened:
        for child in journal.children(design):
            _add(nodes, journal, child, depth + 1, row, line, whole)


def _count(journal: Journal, design: str) -> int:
    children = [str(child.design_id) for child in journal.children(design)]
    return len(children) + sum(_count(journal, child) for child in children)


def _edge(node: _Node, indent: float, marked: bool) -> Markup:
    if node.parent_row is None:
        return Markup("")
    x = LEFT + indent * node.depth
    path = (
        f"M{x - indent:.1f} {_y(node.parent_row) + 6:g} V{node.y:g} H{max(x - 6, x - indent):.1f}"
    )
    return element("path", d=path, class_="edge-line" if marked else "edge", fill="none")


def _label(
    node: _Node,
    indent: float,
    line: set[str],
    learned: str | None,
    names: dict[str, str],
    rewards: Scale,
) -> Markup:
    proposal = node.proposal
    assert proposal.estimate is not None
    human, complete = proposal.operator == "human", bool(proposal.estimate["complete"])
    words = [
        (names.get(node.design) if human else "") or short(node.design),
        f"{rewards.value(proposal.estimate['mean'])}{rewards.unit}",
        "the learned design" if node.design == learned else "",
        "" if complete else "raced out, an estimate",
        "" if human else proposal.operator,
        _lent(proposal),
        f"{node.hidden} descendants not shown" if node.hidden else "",
    ]
    x, shown = LEFT + indent * node.depth, " · ".join(word for word in words if word)
    room = int((WIDTH - x - 12) / LETTER)
    kind = "dot-learned" if node.design == learned else "dot-human" if human else "dot"
    return Markup("").join(
        [
            element(
                "circle",
                element("title", f"{shown}: {proposal.note}"),
                cx=x,
                cy=node.y,
                r=5,
                class_=kind if complete else "dot-raced",
            ),
            text(
                x + 11,
                node.y + 4,
                shown if len(shown) <= room else shown[: room - 1] + "…",
                "node marked" if node.design in line else "node",
            ),
        ]
    )


def _lent(proposal: ProposalRecord) -> str:
    others = [short(parent) for parent in proposal.parents[1:]]
    return f"with parts of {', '.join(others)}" if others else ""


def _words(journal: Journal, learned: str | None, whole: bool) -> str:
    words = f"{len(journal.by_design)} designs from {len(journal.roots)} roots."
    line = journal.lineage(learned) if learned else []
    if line:
        steps = ", ".join(short(design) for design in reversed(line))
        words += f" The learned design's line, oldest first: {steps}."
    if not whole:
        words += " Only that line and what stands beside it are shown."
    return words
