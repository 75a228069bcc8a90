"""Earlier changes that would explain the difference which a goal complains of.

Stores: the change that an episode's last observation tells (JSON that ends with an old and a new
text), also turned round and in variants, with features of how the two values in the goal differ,
and of how old and new code differ in value when run on sample values.
Retrieves: changes whose differences are most like the goal's, preferring those under the same head
of the goal, marked as passing; then, unmarked, the other changes under that head. Forgets the rest.
"""

import ast
import builtins
import difflib
import json
import keyword
import math
import re
from collections import Counter

from metamem.designs import Experience, Memory, Query, Tools

SAFE = {
    n: getattr(builtins, n)
    for n in (
        "len list dict tuple sorted reversed round sum min max abs range enumerate int float str bool zip any all"
    ).split()
}
SAMPLES = ([7, 3, 2, 5], [[3, 1, 2], [5, 4], [1], [2]], [" Ab c", "B", " c", "d"])
SCALAR = re.compile(r"-?\d+(\.\d+)?\b|(None|True|False)\b")
ENDS = {"(": ")", "[": "]", "{": "}", "'": "'", '"': '"'}
CODE = re.compile(r"`[^`]*`|\n +[^\n]*")  # marked as code, or indented


def values(said: str) -> list:
    """The literals in a text, in order."""
    found, i = [], 0
    while i < len(said):
        step = 1
        if not (i and (said[i - 1].isalnum() or said[i - 1] in "_.")):
            scalar = SCALAR.match(said, i)
            ends = (
                [scalar.end()]
                if scalar
                else [j + 1 for j in range(i + 1, len(said)) if said[j] == ENDS.get(said[i])]
            )
            for end in ends[:50]:
                try:
                    found.append(ast.literal_eval(said[i:end]))
                except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
                    continue
                step = end - i
                break
        i += step
    return found


def number(a) -> bool:
    return isinstance(a, (int, float)) and not isinstance(a, bool)


def given(value) -> set:
    """What is special about a value that a goal holds."""
    if isinstance(value, dict):
        value = [*value, *value.values()]
    if isinstance(value, (list, tuple, set)):
        return {f for v in value for f in given(v)} if value else {"empty"}
    if isinstance(value, str):
        marks = (
            ("case", value != value.lower()),
            ("space", value != value.strip()),
            ("empty", not value),
        )
        return {name for name, so in marks if so}
    return (
        {"none"}
        if value is None
        else {"zero" if value == 0 else "negative"}
        if number(value) and value <= 0
        else set()
    )


def read(goal: str) -> tuple:
    """Head of a goal, what is special about its values, and the two values that it names."""
    head, _, rest = goal[:1000].partition(":")
    found = values(CODE.sub("`", rest))[:2]
    special = {f for v in values(rest) for f in given(v)}
    return head, special, found if len(found) == 2 and repr(found[0]) != repr(found[1]) else []


def differ(a, b, out: set, top: bool = True) -> set:
    """Adds features of how two values differ; their types, which say little, begin with ~."""
    kind = type(a).__name__ if type(a) is type(b) else f"{type(a).__name__}>{type(b).__name__}"
    if isinstance(a, dict) and isinstance(b, dict) and list(a) == list(b):
        a, b = list(a.values()), list(b.values())
    size = 0
    if isinstance(a, (list, tuple)) and type(a) is type(b):
        ra, rb = [repr(x) for x in a], [repr(x) for x in b]
        if sorted(ra) == sorted(rb):
            out |= {"permuted", "reversed" if ra == rb[::-1] else "moved"}
        elif len(a) == len(b):
            parts = [i for i in range(len(a)) if ra[i] != rb[i]]
            if isinstance(a, tuple) and len(parts) < len(a) and top:
                out.add(f"only part {parts[0]}")
                if parts[0] and type(a[0]) is type(a[1]) and not number(a[0]):
                    return out
            for i in parts:
                differ(a[i], b[i], out, False)
            return out
        else:
            gone, come = Counter(ra) - Counter(rb), Counter(rb) - Counter(ra)
            out.add("fewer" if not come else "more" if not gone else "other items")
            if ra and rb and not set(ra) & set(rb):
                out.add("disjoint")
            size = len(b) - len(a)
    elif number(a) and number(b):
        size = b - a
        out |= {"opposite"} if a == -b else {"sign"} if (a < 0) != (b < 0) else set()
        if min(abs(a), abs(b)) * 10 <= max(abs(a), abs(b)) and a and b:
            out.add("scaled up" if abs(b) > abs(a) else "scaled down")
    elif isinstance(a, str) and isinstance(b, str):
        if a.lower() == b.lower():
            out.add("case lost" if b == a.lower() else "case kept")
        elif "".join(a.split()).lower() == "".join(b.split()).lower():
            out.add("space lost" if len(b) < len(a) else "space kept")
        else:
            size = len(b) - len(a)
    if size:
        out |= {
            "up" if size > 0 else "down",
            "by one" if abs(size) == 1 else "by less" if abs(size) < 1 else "by more",
        }
    return out.update(["~" + kind] if b else ["~" + kind, "to nothing"]) or out


def parse(line: str):
    """The syntax tree of one line of code, or nothing."""
    line = line.strip() + (" pass" if line.strip().endswith(":") else "")
    try:
        return ast.parse(f"def _():\n while 1:\n  {line}").body[0].body[0].body[0]
    except (SyntaxError, IndexError, ValueError, RecursionError):
        return None


def pairs(a, b):
    """The parts in which two trees differ, from the whole down to the smallest."""
    while isinstance(a, ast.AST) and isinstance(b, ast.AST):
        yield a, b
        flat: list = []
        for (_, x), (_, y) in zip(ast.iter_fields(a), ast.iter_fields(b)):
            flat += (
                zip(x, y)
                if isinstance(x, list) and isinstance(y, list) and len(x) == len(y)
                else [(x, y)]
            )
        apart = [
            p
            for p in flat
            if len({ast.dump(x) if isinstance(x, ast.AST) else repr(x) for x in p}) > 1
        ]
        if type(a) is not type(b) or len(apart) != 1:
            return
        a, b = apart[0]


def run(e, names: list, sample: list):
    known = {n: s[:] if isinstance(s, list) else s for n, s in zip(names, sample)}
    value = eval(compile(ast.Expression(e), "", "eval"), {"__builtins__": SAFE}, known)
    return (
        list(value)
        if hasattr(value, "__iter__") and not isinstance(value, (str, tuple, dict))
        else value
    )


def effects(old: str, new: str) -> list:
    """Features of how old and new code differ in value, part by part, for the first fitting sample."""
    found = []
    for x, y in pairs(parse(old), parse(new)):
        nodes = [n for e in (x, y) for n in ast.walk(e)]
        names = sorted({n.id for n in nodes if isinstance(n, ast.Name)} - set(SAFE))
        costly = any(
            isinstance(n, ast.Pow) or number(getattr(n, "value", 0)) and n.value > 10**5
            for n in nodes
            if isinstance(n, (ast.Pow, ast.Constant))
        )
        fit = isinstance(x, ast.expr) and isinstance(y, ast.expr) and names and not costly
        for sample in SAMPLES if fit else ():
            try:
                if isinstance(x, ast.Compare):  # what passes as a filter
                    one, two = (
                        [n for n in range(1, 5) if run(e, names, [n, 2, 2, 2])] for e in (x, y)
                    )
                else:
                    one, two = (run(e, names, sample) for e in (x, y))
            except (
                Exception
            ):  # code of others on made-up values: any error says that they do not fit
                continue
            if repr(one) != repr(two):
                found.append(sorted(differ(one, two, set())))
            break
    return found


def variants(old: str, new: str) -> list:
    """Other changes of like effect: x - 1 for x + 1 dropped, a - b for a / b, calls of a chain."""
    swap = re.fullmatch(r"(.*?)(\w+) ([-+*/%]+) (\w+)(.*)", old)
    if swap and new == f"{swap[1]}{swap[4]} {swap[3]} {swap[2]}{swap[5]}":
        return [tuple(line.replace(f" {swap[3]} ", " - ", 1) for line in (old, new))]
    long, short = (old, new) if len(old) > len(new) else (new, old)
    for m in re.finditer(r" ([+-])( \d+)", long):
        if long[: m.start()] + long[m.end() :] == short:
            other = long[: m.start()] + (" -" if m[1] == "+" else " +") + long[m.end(1) :]
            return [(other, short), (short, other)]
    calls = re.findall(r"\.\w+\(\)", long)
    if all(long.replace(c, "", 1) != short for c in calls):
        return []
    lines = [long, *(long.replace(c, "", 1) for c in calls if len(calls) > 1)]
    both = [(one, one.replace(c, "", 1)) for one in lines for c in calls if c in one]
    return both + [(two, one) for one, two in both]


def shape(old: str, new: str) -> str:
    """What a change takes away and puts in, whatever the names."""
    rows = [
        [
            t if t in SAFE or keyword.iskeyword(t) or not t.isidentifier() else "x"
            for t in re.findall(r"\.?\w+(?=\()|\w+|[^\w\s]+", line)
        ]
        for line in (old, new)
    ]
    codes = difflib.SequenceMatcher(None, *rows, autojunk=False).get_opcodes()
    return repr([(rows[0][a:b], rows[1][c:d]) for op, a, b, c, d in codes if op != "equal"])


def told(last: str) -> dict:
    """The first JSON object of texts alone in an observation."""
    for m in re.finditer(r"\{", last):
        try:
            found = json.JSONDecoder().raw_decode(last[m.start() :])[0]
        except (ValueError, RecursionError):
            continue
        if len(found) > 1 and all(isinstance(v, str) for v in found.values()):
            return found
    return {}


class LikeChanges(Memory):
    """Remembers merged changes by their effect, and tells those that would explain the goal."""

    SAME = 0.4  # worth of the same head, beside a likeness of 0 to 1
    GIVEN = 0.3  # worth of goals that hold values as special
    BACK = 0.85  # worth of a change turned round, or of a variant
    ENOUGH = 0.75  # share of the best score that is told as passing
    VAGUE = 0.5  # weight of a type as a feature
    FLOOR = 0.8  # least score of a change under another head
    MOST = 4  # changes told as passing

    def __init__(self, tools: Tools) -> None:
        super().__init__(tools)
        self.changes: list[dict] = []

    async def update(self, experience: Experience) -> None:
        change = told(experience.steps[-1].observation) if experience.steps else {}
        if not change:
            return
        head, special, pair = read(experience.goal)
        *place, old, new = change.values()
        seen = {(old, new): pair, (new, old): pair[::-1]}
        for one, two in dict.fromkeys([*seen, *variants(old, new)]):
            shown = seen.get((one, two))
            self.changes.append(
                {
                    "head": head,
                    "given": sorted(special),
                    "worth": 1.0 if (one, two) == (old, new) else self.BACK,
                    "sets": effects(one, two) + ([sorted(differ(*shown, set()))] if shown else []),
                    "shape": shape(one, two),
                    "change": dict(zip(change, [*place, one, two])),
                }
            )

    def ranked(self, goal: str) -> list:
        head, special, pair = read(goal)
        wanted = differ(*pair, set()) if pair else set()
        common = Counter(f for c in self.changes for f in {f for s in c["sets"] for f in s})
        usual = Counter(f for c in self.changes for f in c["given"])

        def like(a: set, b: list, count: Counter) -> float:
            def weight(some) -> float:
                return sum(
                    math.log(1 + len(self.changes) / (1 + count[f]))
                    * (self.VAGUE if f[0] == "~" else 1)
                    for f in sorted(some)
                )

            return weight(a & set(b)) / math.sqrt(weight(a) * weight(b)) if a & set(b) else 0.0

        best: dict = {}
        for c in self.changes:
            score = c["worth"] * (
                max([like(wanted, s, common) for s in c["sets"]], default=0.0)
                + self.GIVEN * like(special, c["given"], usual)
                + self.SAME * (c["head"] == head)
            )
            if score > best.get(c["shape"], (0.0 if c["head"] == head else self.FLOOR,))[0]:
                best[c["shape"]] = (score, c)
        return sorted(best.values(), key=lambda x: -x[0])

    async def retrieve(self, query: Query) -> str:
        ranked, head = self.ranked(query.goal), read(query.goal)[0]
        first = [c for score, c in ranked[: self.MOST] if score >= self.ENOUGH * ranked[0][0]]
        rest = [c for _, c in ranked if c not in first and c["head"] == head and c["worth"] == 1]
        return "\n".join(
            [json.dumps(c["change"]) + "\nall tests pass" for c in first]
            + [json.dumps(c["change"]) for c in rest]
        )
