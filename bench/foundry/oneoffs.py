"""Tasks that come once: chains of operations on files, no two of which follow each other twice in a stream.

Every operation is a command of another shape. A chain is a walk over the operations on which no
passage from one to the next is ever used again within a seed: nothing repeats beyond single commands.
"""

import base64
import hashlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from bench.foundry.world import WORDS, Project, Tree

Lines = list[str]
Expected = Callable[[Lines, int], Lines]


@dataclass(frozen=True, slots=True)
class Operation:
    words: str
    command: str  # reads {a}, writes {b}; {n} is a number of 2 to 5
    expected: Expected


@dataclass(frozen=True, slots=True)
class Chain:
    """A task that comes once."""

    goal: str
    commands: tuple[str, ...]
    results: tuple[tuple[str, str], ...]  # which file holds what in the end

    def done(self, tree: Tree) -> bool:
        return all(tree.read(path) == content for path, content in self.results)


def _split(line: str) -> list[str]:
    return line.split(" ")


def _counted(lines: Lines) -> Lines:
    return [f"{count} {line}" for line, count in sorted(Counter(lines).items())]


def _folded(lines: Lines, width: int) -> Lines:
    return [line[k : k + width] for line in lines for k in range(0, max(len(line), 1), width)]


def _paired(lines: Lines) -> Lines:
    even = [*lines, ""] if len(lines) % 2 else lines
    return [f"{a}+{b}".removesuffix("+") for a, b in zip(even[::2], even[1::2], strict=True)]


def _unique(lines: Lines) -> Lines:
    return list(dict.fromkeys(lines))


_PYTHON = "python -c 'import sys; {}' < {{a}} > {{b}}"


OPERATIONS: tuple[Operation, ...] = (
    Operation("sort", "sort {a} > {b}", lambda g, n: sorted(g)),
    Operation("turn round", "tac {a} > {b}", lambda g, n: g[::-1]),
    Operation("mirror", "rev {a} > {b}", lambda g, n: [line[::-1] for line in g]),
    Operation("keep the head of", "head -n {n} {a} > {b}", lambda g, n: g[:n]),
    Operation("keep the end of", "tail -n {n} {a} | tee {b}", lambda g, n: g[-n:]),
    Operation("copy", "cp {a} {b}", lambda g, n: g),
    Operation("shout", "tr a-z A-Z < {a} > {b}", lambda g, n: [line.upper() for line in g]),
    Operation("count the lines of", "grep -c '' {a} > {b}", lambda g, n: [str(len(g))]),
    Operation(
        "number",
        "cat -n {a} | sed 's/^ *//; s/\\t/ /' > {b}",
        lambda g, n: [f"{k} {line}" for k, line in enumerate(g, 1)],
    ),
    Operation("quote", "sed 's/^/> /' {a} > {b}", lambda g, n: [f"> {line}" for line in g]),
    Operation(
        "end with a mark",
        "awk '{{print $0 \"!\"}}' {a} > {b}",
        lambda g, n: [f"{line}!" for line in g],
    ),
    Operation(
        "take the first words of",
        "cut -d' ' -f1 {a} > {b}",
        lambda g, n: [_split(line)[0] for line in g],
    ),
    Operation("join in pairs", "paste -d+ - - < {a} | sed 's/+$//' > {b}", lambda g, n: _paired(g)),
    Operation("fold", "fold -w {n} {a} > {b}", lambda g, n: _folded(g, n)),
    Operation(
        "wrap as base64",
        "base64 -w0 {a} > {b} && echo >> {b}",
        lambda g, n: [base64.b64encode(_text(g).encode()).decode()],
    ),
    Operation(
        "take the md5 of",
        "md5sum < {a} | cut -c1-32 > {b}",
        lambda g, n: [hashlib.md5(_text(g).encode()).hexdigest()],
    ),
    Operation(
        "take the sha1 of",
        "sha1sum {a} | awk '{{print $1}}' > {b}",
        lambda g, n: [hashlib.sha1(_text(g).encode()).hexdigest()],
    ),
    Operation(
        "take the sha256 of",
        "openssl=$(sha256sum {a}); echo ${{openssl%% *}} > {b}",
        lambda g, n: [hashlib.sha256(_text(g).encode()).hexdigest()],
    ),
    Operation(
        "count what is equal in",
        "sort {a} | uniq -c | sed 's/^ *//' > {b}",
        lambda g, n: _counted(g),
    ),
    Operation("drop what is double in", "awk '!seen[$0]++' {a} > {b}", lambda g, n: _unique(g)),
    Operation(
        "put all of it on one line", "xargs -d '\\n' echo < {a} > {b}", lambda g, n: [" ".join(g)]
    ),
    Operation("leave out the first line of", "sed 1d {a} > {b}", lambda g, n: g[1:]),
    Operation("leave out the last line of", "sed '$d' {a} > {b}", lambda g, n: g[:-1]),
    Operation(
        "give a title to",
        "{{ echo '# Title {n}'; cat {a}; }} > {b}",
        lambda g, n: [f"# Title {n}", *g],
    ),
    Operation(
        "give an end to",
        "install -m 644 {a} {b} && echo 'end {n}' >> {b}",
        lambda g, n: [*g, f"end {n}"],
    ),
    Operation("double", "cat {a} {a} > {b}", lambda g, n: [*g, *g]),
    Operation(
        "write the length of the lines of",
        "while IFS= read -r l; do echo ${{#l}}; done < {a} > {b}",
        lambda g, n: [str(len(line)) for line in g],
    ),
    Operation(
        "write with dots for vowels",
        "sed 'y/aeiou/...../' {a} > {b}",
        lambda g, n: [line.translate(str.maketrans("aeiou", ".....")) for line in g],
    ),
    Operation(
        "squeeze letters of",
        "tr -d xyz < {a} | dd of={b} status=none",
        lambda g, n: [line.translate(str.maketrans("", "", "xyz")) for line in g],
    ),
    Operation("keep every other line of", "sed -n 'p;n' {a} > {b}", lambda g, n: g[::2]),
    Operation(
        "indent",
        "pr -T -o {n} {a} | sed 's/^\\s*$//' > {b}",
        lambda g, n: [" " * n + line if line.strip() else "" for line in g],
    ),
    Operation(
        "bracket", "perl -pe 's/^(.*)$/[$1]/' {a} > {b}", lambda g, n: [f"[{line}]" for line in g]
    ),
    Operation(
        "sort by length",
        _PYTHON.format("sys.stdout.writelines(sorted(sys.stdin, key=len))"),
        lambda g, n: sorted(g, key=len),
    ),
    Operation(
        "title",
        _PYTHON.format("[print(x.rstrip(chr(10)).title()) for x in sys.stdin]"),
        lambda g, n: [line.title() for line in g],
    ),
    Operation(
        "swap case in",
        _PYTHON.format("sys.stdout.write(sys.stdin.read().swapcase())"),
        lambda g, n: [line.swapcase() for line in g],
    ),
    Operation(
        "say how wide is",
        "wc -L < {a} | xargs printf 'wide %s\\n' > {b}",
        lambda g, n: [f"wide {max(map(len, g), default=0)}"],
    ),
    Operation("zip and unzip", "gzip -c {a} | zcat > {b}", lambda g, n: g),
    Operation("pack and unpack", "tar cO {a} | tar xO > {b}", lambda g, n: g),
    Operation("move a copy of", "cat {a} > {b}.part; mv {b}.part {b}", lambda g, n: g),
    Operation("link", "ln {a} {b}", lambda g, n: g),
    Operation(
        "compare with nothing", "comm -23 <(sort {a}) /dev/null > {b}", lambda g, n: sorted(g)
    ),
    Operation(
        "note the name of",
        "basename {a} > /dev/null; printf '%s\\n' 'seen {n}' > {b}",
        lambda g, n: [f"seen {n}"],
    ),
    Operation(
        "list numbers beside",
        "seq {n} | cat - {a} > {b}",
        lambda g, n: [*map(str, range(1, n + 1)), *g],
    ),
    Operation(
        "shift right",
        "nl -ba -w1 -s': ' {a} > {b}",
        lambda g, n: [f"{k}: {line}" for k, line in enumerate(g, 1)],
    ),
    Operation(
        "swap words in",
        "awk '{{t=$1; $1=$NF; $NF=t; print}}' {a} > {b}",
        lambda g, n: [_swapped(line) for line in g],
    ),
    Operation(
        "show the bytes of",
        "head -c {n} {a} | od -An -tx1 | tr -d ' ' > {b}",
        lambda g, n: [_text(g).encode()[:n].hex()] if g else [],
    ),
    Operation(
        "mark by sign",
        "mapfile -t m < {a}; printf '*%s*\\n' \"${{m[@]}}\" > {b}",
        lambda g, n: [f"*{line}*" for line in g] or ["**"],
    ),
    Operation("cut short", "colrm {cut} < {a} > {b}", lambda g, n: [line[:11] for line in g]),
    Operation(
        "keep lines with a digit of",
        "grep '[0-9]' {a} > {b} || true",
        lambda g, n: [line for line in g if any(c in "0123456789" for c in line)],
    ),
    Operation(
        "keep lines without q of",
        "grep -v q {a} > {b} || :",
        lambda g, n: [line for line in g if "q" not in line],
    ),
    Operation(
        "truncate after",
        "cp -p {a} {b} && truncate -s 0 {b} && echo 'emptied {n}' > {b}",
        lambda g, n: [f"emptied {n}"],
    ),
    Operation(
        "split off the start of",
        "touch {b}.aa && split -l {n} {a} {b}. && cp {b}.aa {b} && rm {b}.??",
        lambda g, n: g[:n],
    ),
)


def _swapped(line: str) -> str:
    words = line.split()
    if words:
        words[0], words[-1] = words[-1], words[0]
    return " ".join(words)


def _text(lines: Lines) -> str:
    return "".join(f"{line}\n" for line in lines)


class OneOffs:
    """The one-off tasks of a seed, in their order."""

    def __init__(self, random: Random) -> None:
        self._random = random
        size = len(OPERATIONS)
        self._free = {k: [m for m in range(size) if m != k] for k in range(size)}

    def next(self, given: Project) -> Chain:
        """Three to five operations, each on what the one before left."""
        random = self._random
        name = random.choice(sorted(given.notes))
        lines, before = list(given.notes[name]), f"notes/{name}.txt"
        fresh = random.sample(WORDS, 8)
        goal: list[str] = []
        commands: list[str] = []
        results: list[tuple[str, str]] = []
        for operation, title in zip(self._walk(random.randint(3, 5)), fresh, strict=False):
            n, after = random.randint(2, 5), f"notes/{title}_{len(commands)}.txt"
            commands.append(operation.command.format(a=before, b=after, n=n, cut=12))
            lines = operation.expected(lines, n)
            goal.append(f"{operation.words} {before} as {after}")
            results.append((after, _text(lines)))
            before = after
        return Chain(", then ".join(goal), tuple(commands), tuple(results))

    def _walk(self, length: int) -> list[Operation]:
        """A passage that was used is never used again; where none is left, the walk ends early."""
        at = self._random.choice([k for k, free in self._free.items() if free])
        walk = [at]
        while len(walk) < length and self._free[at]:
            free = self._free[at]
            at = free.pop(self._random.randrange(len(free)))
            walk.append(at)
        return [OPERATIONS[k] for k in walk]
