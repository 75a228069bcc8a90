"""An observer, a reflector and a reader without a model: plain functions of what they are shown.

They know nothing of the dialogues but how English is written, do what their prompts ask for as well as
such rules can, and have the limits that small models have: an observer that is shown much writes down a
part of it, and short notes lose words. `scripted:metamem.observation.scripted:answer` is all three, for
whoever wants to see observational memory work without a model.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from metamem.core.chat import Question
from metamem.core.ids import derive_seed
from metamem.core.tokens import count_tokens
from metamem.designs import text
from metamem.designs.human.observational import Observational, Settings

ATTENTION = 40  # notes in one answer of the observer, at most
CUT = 9  # words that are left of a note where nobody asks for exact ones
RANKS = {"high": 2, "medium": 1, "done": 1, "low": 0}
READER = """You answer a question about a person from notes, and from nothing else.

- Later notes hold against earlier ones, and what somebody only asked about is no fact.
- Answer with one of the options, word for word."""

_ALL = Settings(brief=True).observer  # with every rule that an observer may be given
_RULES = {  # a rule holds where the prompt has it
    name: next(line for line in _ALL.splitlines() if said in line)
    for name, said in (
        ("apart", "Tell statements"),
        ("replaced", "say what it replaces"),
        ("exact", "Keep names, numbers"),
        ("brief", "Be brief"),
    )
}
_OWN = re.compile(r"\b(I|I'm|my|me|mine|we|our|us)\b", re.IGNORECASE)
_CHANGE = re.compile(
    r"\b(now|new|switched|changed|change|from now|no longer|instead|quit|moved|this week|these days"
    r"|gave|stopped|sold|swapped|old|finished|next)\b",
    re.IGNORECASE,
)
_NEXT = re.compile(r"\bdone next is to ([^.?!]+)")
_SAID = re.compile(r"^([^:\n]{1,40}): (.+)$")
_NOTE = re.compile(r"^- \[(\w+)\] (.*)$")
_REPLACING = re.compile(r"\(replacing: ([^()]*)\)")
_SHARE = re.compile(r"about (\d)/10 of the detail")
_FIRST_SHARE = 0.9  # of the notes that a reflector keeps where it is not told to do better
_ASSISTANT = "Assistant"


def answer(question: Question) -> str:
    """Whichever of the three the prompt is for."""
    system, prompt = "", question.turns[-1].text
    if len(question.turns) > 1:
        system = question.turns[0].text
    if question.choices:
        return read(question)
    if system == Observational.REFLECTOR:
        return reflect(prompt)
    return observe(system, prompt, question.max_tokens)


# --- the observer -----------------------------------------------------------------------------


def observe(system: str, prompt: str, most: int) -> str:
    """Notes of what was said, in at most so many tokens."""
    rules = {name for name, rule in _RULES.items() if rule in system}
    earlier, _, shown = prompt.partition("<lines>")
    known = [found[2] for line in earlier.splitlines() if (found := _NOTE.match(line))]
    dated: list[tuple[str, str, str]] = []  # day, mark, note
    day, task = "", _after(earlier, "The task so far: ")
    for line in shown.partition("</lines>")[0].splitlines():
        if line.startswith("Date: "):
            day = line
            continue
        said = _SAID.match(line)
        if said is None or said[1] == _ASSISTANT:
            continue
        if wanted := _NEXT.search(said[2]):  # the latest first, and behind it what waits
            task = f"{wanted[1]}; {task}" if task else wanted[1]
        mark, note = _noted(said[1], said[2], known, rules)
        if note not in known and not ("brief" in rules and mark == "low"):
            known.append(note)
            dated.append((day, mark, note))
    lines = _under_days(_attended(dated, most))
    told = "<observations>\n" + "\n".join(lines) + "\n</observations>"
    if "<current-task>" in system:
        told += f"\n<current-task>\n{task}\n</current-task>"
        told += "\n<suggested-response>\nAsk how it went.\n</suggested-response>"
    return told


def _noted(who: str, said: str, known: Sequence[str], rules: set[str]) -> tuple[str, str]:
    """The mark and the note of one thing said."""
    if said.endswith("?"):
        if "apart" in rules:
            return "low", f"{who} asked: {said}"
        said = said[:-1] + "."
    mark = "high" if _OWN.search(said) else "medium" if re.search(r"\d", said) else "low"
    short = said
    if "exact" not in rules:
        short = " ".join(re.sub(r"(?<=\d)\d", "0", said).split()[:CUT])
    if "brief" in rules:
        kept = [w for w in short.split() if w.strip(".,!").lower() not in text.FUNCTION_WORDS]
        short = " ".join(kept)
    note = f"{who} stated: {short}"
    if "replaced" in rules and _CHANGE.search(said):
        shares = [len(_meaning(said) & _meaning(_bare(each))) for each in known]
        if shares and max(shares) > 1:  # the name of whoever speaks is not among them
            latest = len(shares) - 1 - shares[::-1].index(max(shares))
            note += f" (replacing: {_bare(known[latest])})"
    return mark, note


def _bare(note: str) -> str:
    """What was said, without who said it and what it replaced."""
    return _REPLACING.sub("", note).partition(": ")[2].strip().replace("(", "").replace(")", "")


def _attended(dated: Sequence[tuple[str, str, str]], most: int) -> Sequence[tuple[str, str, str]]:
    """As many notes as are written down at one go: what matters most, of that the latest."""
    order = sorted(range(len(dated)), key=lambda n: (-RANKS[dated[n][1]], -n))
    kept, left = [], most - 100  # for dates, tags and the task
    for n in order[:ATTENTION]:
        left -= count_tokens(dated[n][2]) + 4
        if left < 0:
            break
        kept.append(n)
    return [dated[n] for n in sorted(kept)]


def _under_days(dated: Sequence[tuple[str, str, str]]) -> list[str]:
    lines: list[str] = []
    day = ""
    for each, mark, note in dated:
        if each != day:
            day = each
            lines.append(day)
        lines.append(f"- [{mark}] {note}")
    return lines


def _after(prompt: str, words: str) -> str:
    """What stands in a line behind some words; nothing where it says that there is none."""
    found = prompt.partition(words)[2].partition("\n")[0]
    return "" if found == "(none)" else found


# --- the reflector ----------------------------------------------------------------------------


def reflect(prompt: str) -> str:
    """The notes that matter most, of those the latest, in the share of the tokens asked for."""
    notes = text.tagged(prompt, "notes")
    asked = _SHARE.search(prompt.rpartition("</notes>")[2])
    spare = count_tokens(notes) * (int(asked[1]) / 10 if asked else _FIRST_SHARE)
    dated: list[tuple[str, str, str]] = []
    day = ""
    for line in notes.splitlines():
        if found := _NOTE.match(line):
            dated.append((day, found[1], found[2]))
        else:
            day = line
    replaced = {old for _, _, note in dated for old in _REPLACING.findall(note)}
    order = sorted(range(len(dated)), key=lambda n: (-RANKS.get(dated[n][1], 1), -n))
    kept = []
    for n in order:
        spare -= count_tokens(dated[n][2]) + 8
        if spare >= 0 and _bare(dated[n][2]) not in replaced:
            kept.append(n)
    lines = _under_days([dated[n] for n in sorted(kept)])
    return "<observations>\n" + "\n".join(lines) + "\n</observations>"


# --- the reader -------------------------------------------------------------------------------


def read(question: Question) -> str:
    """The option that stands in the note which is most about the question, of those in the latest.

    Where no note names any, it guesses.
    """
    prompt, options = question.turns[-1].text, question.choices
    asked = set(text.content_words(prompt.rpartition("</notes>")[2]))
    best, found = (-1, -1), ""
    replaced: dict[str, tuple[int, str]] = {}  # where, and by which note
    for place, line in enumerate(text.tagged(prompt, "notes").splitlines()):
        lower = line.lower()
        if not any(option.lower() in lower for option in options):
            continue
        if " asked: " in line or line.endswith("?"):
            continue
        bare = _REPLACING.sub("", line)
        for old in _REPLACING.findall(line):
            replaced |= {option: (place, bare) for option in options if _holds(old, option)}
        about = len(asked & _meaning(bare))
        for option in options:
            if _holds(bare, option) and (about, place) >= best:
                best, found = (about, place), option
    place, later = replaced.get(found, (-1, ""))
    if place > best[1]:  # it was so once, and what came in its place may be an option, too
        found = next((o for o in options if o != found and _holds(later, o)), found)
    return found or options[derive_seed("guess", question.digest) % len(options)]


def _holds(line: str, option: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(option)}(?!\w)", line, re.IGNORECASE) is not None


@lru_cache(maxsize=4096)
def _meaning(said: str) -> frozenset[str]:
    return frozenset(text.content_words(said))
