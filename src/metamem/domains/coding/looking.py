"""What an agent is shown of a tree: listings, pages of files, and search that ranks."""

import math
import re
from collections import Counter

from metamem.domains.coding.actions import ActionError
from metamem.domains.coding.tree import Files, clean_path

PAGE_LINES = 200
MOST_CHARS = 10_000
MOST_HITS = 20
_WORD = re.compile(r"[A-Za-z]+|\d+")
_NAME_WEIGHT = 3.0  # a word in a path or on a line that defines something says more


def resolve(path: str) -> str:
    try:
        return clean_path(path)
    except ValueError as error:
        raise ActionError(str(error)) from None


def listing(files: Files, path: str = "") -> str:
    """The files below a folder with their lengths."""
    folder = resolve(path)
    if folder in files:
        return f"{folder} ({_lines(files[folder])} lines)"
    chosen = [p for p in sorted(files) if not folder or p.startswith(folder + "/")]
    if not chosen:
        raise ActionError(f"no folder {folder!r}")
    shown = [f"{p} ({_lines(files[p])} lines)" for p in chosen]
    return _within("\n".join(shown), "list a folder of it")


def page(files: Files, path: str, start: int = 1, lines: int = PAGE_LINES) -> str:
    """Numbered lines of a file, and what to say for more."""
    path = resolve(path)
    if path not in files:
        near = [p for p in sorted(files) if p.rpartition("/")[2] == path.rpartition("/")[2]]
        raise ActionError(
            f"no file {path!r}" + (f"; there is {', '.join(near[:5])}" if near else "")
        )
    every = files[path].splitlines()
    if start < 1 or lines < 1 or (every and start > len(every)):
        raise ActionError(f"{path} has lines 1 to {len(every)}")
    shown: list[str] = []
    size = 0
    for number, line in enumerate(every[start - 1 : start - 1 + lines], start):
        text = f"{number:4} {line}"
        size += len(text) + 1
        if shown and size > MOST_CHARS:
            break
        shown.append(text[:MOST_CHARS])
    end = start + len(shown) - 1
    head = f"{path}, lines {start}-{end} of {len(every)}:" if every else f"{path} is empty"
    more = f"\n(more: read_file {path} {end + 1})" if end < len(every) else ""
    return "\n".join([head, *shown]) + more


def search(files: Files, query: str, path: str = "") -> str:
    """The lines that fit best: rare words count more, the exact text most."""
    folder = resolve(path)
    words = list(dict.fromkeys(w.lower() for w in _WORD.findall(query)))
    exact = query.strip().lower()
    lines = [
        (file, number, line)
        for file in sorted(files)
        if not folder or file == folder or file.startswith(folder + "/")
        for number, line in enumerate(files[file].splitlines(), 1)
    ]
    bags = [frozenset(w.lower() for w in _WORD.findall(line)) for _, _, line in lines]
    spread = Counter(word for bag in bags for word in bag)
    weight = {w: math.log(1 + len(lines) / (1 + spread[w])) for w in words}
    ranked = []
    for (file, number, line), bag in zip(lines, bags, strict=True):
        value = sum(weight[w] for w in words if w in bag)
        if line.lstrip().startswith(("def ", "class ", "async def ")):
            value *= _NAME_WEIGHT
        if exact and exact in line.lower():
            value += 2 * sum(weight.values()) + 1
        if value > 0:
            value += sum(weight[w] for w in words if w in file.lower()) / 2
            ranked.append((-value, file, number, line))
    if not ranked:
        return f"nothing found for {query!r}"
    ranked.sort()
    shown = [
        f"{file}:{number}: {line.strip()[:200]}" for _, file, number, line in ranked[:MOST_HITS]
    ]
    rest = len(ranked) - len(shown)
    return "\n".join(shown) + (f"\n({rest} weaker hits left out)" if rest else "")


def _lines(text: str) -> int:
    return len(text.splitlines())


def _within(text: str, advice: str) -> str:
    if len(text) <= MOST_CHARS:
        return text
    cut = text[:MOST_CHARS].rpartition("\n")[0]
    return f"{cut}\n(and {text.count(chr(10)) - cut.count(chr(10))} more: {advice})"
