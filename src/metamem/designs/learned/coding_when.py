"""Small changes of code, made of pieces that were seen in other code, and tried out before they are told.

Stores: pieces of code with holes for the names in them, and how often each was seen.
Retrieves: from the code listed and the assertions shown in this episode, a change of one place to
another piece under which all of these assertions hold. Every candidate is run, for a bounded number
of turns, in the listed code.
Forgets: order, names, whole programs.
"""

import ast
import builtins
import copy
import itertools
import json
import re
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

from metamem.designs import Experience, Memory, Query, Step, Tools, Wait

SIMPLE = (
    *(ast.Return, ast.Raise, ast.Continue, ast.Break, ast.Pass),
    *(ast.Expr, ast.Assign, ast.AugAssign),
)
LOOPS = (ast.For, ast.While, ast.FunctionDef)
COUNT = "_turn()"  # counts the turns of code that is tried


class Spent(BaseException):
    """A run took too many turns."""


class TriedPieces(Memory):
    """Remembers pieces of code, and tells a change to one of them that was tried out."""

    TRIES = 6000  # candidates run for one question
    TURNS = 500  # turns of loops and calls in one run
    HOLES = 3  # holes of a piece that another may replace
    COMMON = 5  # how often a piece is seen that counts half as much as can be
    LONGER = 0.3  # how much a change loses for each word or sign that it adds

    def __init__(self, tools: Tools) -> None:
        super().__init__(tools)
        self.pieces: Counter[tuple[str, int, str]] = Counter()  # (sort, holes, piece): times

    async def update(self, experience: Experience) -> None:
        for source in listings(experience.steps).values():
            for node in places(parsed(source)):
                for piece, holes in cuts(node):
                    self.pieces[sort_of(node), len(holes), piece] += 1

    async def retrieve(self, query: Query) -> tuple[str, Wait]:
        files = listings(query.steps)
        trees = {path: tree for path, source in files.items() if (tree := parsed(source))}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what is tried may be odd
            world = World(trees.values(), self.TURNS)
            cases = [case for case in asserted(query) if world.knows(case)]
            if not any(map(world.fails, cases)):  # nothing to try yet
                return "", Wait(steps=1 if query.steps else 2)
            for path, unit, whole in itertools.islice(self._tries(trees, world, cases), self.TRIES):
                if world.holds(unit.name, whole, cases):
                    change = {"path": path} | as_edit(files[path], unit, world.plain(whole))
                    return json.dumps(change) + "\ntried: all tests pass", Wait(steps=3)
        return "", Wait()

    def _tries(
        self, trees: dict[str, ast.Module], world: "World", cases: list[str]
    ) -> Iterator[tuple[str, ast.AST, str]]:
        """Where something can be changed, and the function or class as it is then; likely ones first."""
        others: dict[tuple[str, int], list[tuple[str, float]]] = defaultdict(list)
        for (sort, count, piece), n in self.pieces.items():
            others[sort, count].append((piece, 1 + n / (n + self.COMMON)))
        used = world.used(cases)
        found = [
            (
                worth / (1 + self.LONGER * max(0, size(new) - size(ast.unparse(node)))),
                path,
                unit,
                node,
                new,
            )
            for path, tree in trees.items()
            for unit in tree.body
            if getattr(unit, "name", "") in used
            for node, new, worth in self._changes(parsed(world.counted[unit.name]).body[0], others)
        ]
        seen = set()
        for _, path, unit, node, new in sorted(found, key=lambda change: -change[0]):
            whole = spliced(world.counted[unit.name], node, new)
            if whole not in seen:
                seen.add(whole)
                yield path, unit, whole

    def _changes(
        self, unit: ast.AST, others: dict[tuple[str, int], list[tuple[str, float]]]
    ) -> Iterator[tuple[ast.AST, str, float]]:
        """What may take whose place, and how common it is."""
        names = sorted(
            {n.id for n in ast.walk(unit) if is_hole(n)}
            | {a.arg for a in ast.walk(unit) if isinstance(a, ast.arg)}
        )
        for node in places(unit):
            sort, found = sort_of(node), cuts(node)
            if not found[0][1]:
                yield from ((node, new, worth) for new, worth in others[sort, 0])
            if sort != "stmt":  # something made of it, or of a name where it has none
                for x in [ast.unparse(node)] if found[0][1] else names:
                    yield from ((node, filled(p, [x]), worth) for p, worth in others["expr", 1])
            for piece, holes in found:
                for order in itertools.permutations(holes) if 0 < len(holes) <= self.HOLES else ():
                    for other, worth in others[sort, len(holes)]:
                        if other != piece or list(order) != holes:
                            yield node, filled(other, order), worth


# --- code in texts


def listings(steps: Iterable[Step]) -> dict[str, str]:
    """Files as they were first shown: lines numbered from 1, below a line that begins with the name."""
    files: dict[str, str] = {}
    for step in steps:
        first, *lines = step.observation.split("\n")
        rows = list(itertools.takewhile(bool, (re.match(r" *(\d+) ?(.*)", x) for x in lines)))
        if rows and [int(row[1]) for row in rows] == list(range(1, len(rows) + 1)):
            name = re.split(r"[,:\s]", first)[0]
            files.setdefault(name, "\n".join(row[2] for row in rows))
    return files


def asserted(query: Query) -> list[str]:
    """Assertions shown in this episode, after what the goal says to do first for its own."""
    setup = [line.strip() for line in query.goal.split("\n") if line[:1].isspace()]
    setup = [line for line in setup if parsed(line)]
    cases: dict[str, None] = {}
    for line in (x.strip() for step in query.steps for x in step.observation.split("\n")):
        tree = parsed(line) if line.startswith("assert ") else None
        if tree and isinstance(tree.body[0], ast.Assert):
            test = tree.body[0].test
            sides = [test.left, *test.comparators] if isinstance(test, ast.Compare) else [test]
            own = all(ast.unparse(side) in query.goal for side in sides)
            cases["\n".join([*setup, line] if own else [line])] = None
    return list(cases)


def as_edit(source: str, unit: ast.AST, whole: str) -> dict[str, str]:
    """The unit's lines, and what to put in their place: without those alike, if the rest is single."""
    first = min([unit.lineno, *(d.lineno for d in unit.decorator_list)])
    old = source.split("\n")[first - 1 : unit.end_lineno]
    new = whole.split("\n")
    while len(old) > 1 and new and old[-1] == new[-1]:
        old, new = old[:-1], new[:-1]
    while len(old) > 1 and new and old[0] == new[0] and source.count("\n".join(old[1:])) == 1:
        old, new = old[1:], new[1:]
    return {"find": "\n".join(old), "replace": "\n".join(new)}


# --- pieces of code


def parsed(source: str) -> ast.Module | None:
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def is_hole(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and not hasattr(builtins, node.id)


def is_count(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and ast.unparse(node) == COUNT


def sort_of(node: ast.AST) -> str:
    if isinstance(node, ast.Constant):
        return "constant"
    return "stmt" if isinstance(node, ast.stmt) else "expr"


def places(tree: ast.AST | None) -> list[ast.AST]:
    """Expressions and simple statements that may be replaced."""
    nodes = list(ast.walk(tree)) if tree else []
    skip: set[ast.AST] = set()
    for n in nodes:
        if isinstance(n, ast.Expr) and isinstance(n.value, ast.Constant):  # a comment
            skip |= {n, n.value}
        if isinstance(n, ast.JoinedStr) or is_count(n):
            skip |= set(ast.walk(n))
        if isinstance(n, ast.Call):
            skip.add(n.func)
        if isinstance(getattr(n, "ctx", None), (ast.Store, ast.Del)):
            skip |= set(ast.walk(n)) if isinstance(n, ast.Tuple) else {n}
        if isinstance(n, (ast.Starred, ast.Slice)):
            skip.add(n)
    return [n for n in nodes if isinstance(n, (ast.expr, *SIMPLE)) and n not in skip]


class Cutter(ast.NodeTransformer):
    """Puts holes where names are, and where expressions with names lie too deep."""

    def __init__(self, depth: int) -> None:
        self.left, self.holes = depth, []

    def visit(self, node: ast.AST) -> ast.AST:
        if not isinstance(node, ast.expr) or isinstance(node, ast.Attribute):
            return self.generic_visit(node)
        if isinstance(node, ast.JoinedStr) or not any(is_hole(n) for n in ast.walk(node)):
            return node  # an f-string stays whole: a hole in it is no code
        if is_hole(node) or not self.left:
            text = ast.unparse(node)
            if text not in self.holes:
                self.holes.append(text)
            return ast.Name(f"_{self.holes.index(text)}", getattr(node, "ctx", ast.Load()))
        self.left -= 1
        node = self.generic_visit(node)
        self.left += 1
        return node


def cuts(node: ast.AST) -> list[tuple[str, list[str]]]:
    """The node with holes at two depths, and what is in the holes."""
    found = []
    for cutter in (Cutter(1), Cutter(2)):
        cut = ast.unparse(cutter.visit(copy.deepcopy(node))), cutter.holes
        found += [cut] if cut not in found else []
    return found


def size(code: str) -> int:
    return len(re.findall(r"\w+|[^\w\s()]+", code))


def filled(piece: str, holes: Iterable[str]) -> str:
    texts = [x if re.fullmatch(r"\w+|\w+\([^()]*\)", x) else f"({x})" for x in holes]
    return re.sub(r"\b_(\d+)\b", lambda m: texts[int(m[1])], piece)


def spliced(source: str, node: ast.AST, new: str) -> str:
    """The source with this text in the node's place."""
    lines = [line.encode() for line in source.split("\n")]
    head = lines[: node.lineno - 1] + [lines[node.lineno - 1][: node.col_offset]]
    tail = [lines[node.end_lineno - 1][node.end_col_offset :]] + lines[node.end_lineno :]
    plain = isinstance(node, ast.stmt) or re.fullmatch(r"[\w.]+", new)
    return b"\n".join(head).decode() + (new if plain else f"({new})") + b"\n".join(tail).decode()


# --- trying out


class World:
    """The listed code, ready to run assertions, also with one function or class changed."""

    def __init__(self, trees: Iterable[ast.Module], turns: int) -> None:
        self.turns, self.left = turns, 0
        self.space = {"__builtins__": builtins, "_turn": self._turn}
        self.counted: dict[str, str] = {}  # the text of a unit, counting its turns
        for part in [copy.deepcopy(part) for tree in trees for part in tree.body]:
            if isinstance(part, (ast.FunctionDef, ast.ClassDef)):
                for n in ast.walk(part):
                    if isinstance(n, LOOPS):
                        n.body = ast.parse(COUNT).body + n.body
                self.counted[part.name] = ast.unparse(part)
            elif isinstance(part, (ast.Import, ast.ImportFrom, ast.Assign)):
                self._run(ast.unparse(part))
        for text in self.counted.values():
            self._run(text)

    def _turn(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise Spent

    def _run(self, code: str, space: dict | None = None) -> BaseException | None:
        self.left = self.turns
        try:
            exec(code, self.space if space is None else space)
        except (Exception, Spent, SystemExit) as error:  # whatever the code that is tried may raise
            return error
        return None

    def plain(self, text: str) -> str:
        """The text of a unit without the counting."""
        tree = ast.parse(text)
        for n in ast.walk(tree):
            if isinstance(n, LOOPS):
                n.body = [m for m in n.body if not is_count(m)]
        return ast.unparse(tree)

    def fails(self, case: str) -> BaseException | None:
        return self._run(case, dict(self.space))

    def knows(self, case: str) -> bool:
        """Is all listed that this assertion needs?"""
        return not isinstance(self.fails(case), NameError)

    def used(self, cases: list[str]) -> list[str]:
        """The units that an assertion names, or a unit that one names."""
        texts, reached = [*cases], []
        for text in texts:
            for unit in self.counted:
                if unit not in reached and re.search(rf"\b{unit}\b", text):
                    reached.append(unit)
                    texts.append(self.counted[unit])
        return reached

    def holds(self, unit: str, whole: str, cases: list[str]) -> bool:
        before = self.space.get(unit)
        good = not self._run(whole) and not any(map(self.fails, cases))
        self.space[unit] = before
        return good
