"""Keys as words: what an agent may type, and what each game takes.

A game of MiniHack takes a set of keys. One key may mean a command or, while the game asks for a
direction, an item or yes or no, an answer: the same set then reads differently.
"""

import re
from collections.abc import Collection, Iterable, Mapping

from nle import nethack

CANCEL = "cancel"
_ESCAPE = int(nethack.Command.ESC)
_COMPASS = {
    "N": "north",
    "E": "east",
    "S": "south",
    "W": "west",
    "NE": "northeast",
    "SE": "southeast",
    "SW": "southwest",
    "NW": "northwest",
}
OFFSETS = {
    "north": (0, -1),
    "east": (1, 0),
    "south": (0, 1),
    "west": (-1, 0),
    "northeast": (1, -1),
    "southeast": (1, 1),
    "southwest": (-1, 1),
    "northwest": (-1, -1),
}
DIRECTIONS = {_COMPASS[key.name]: int(key) for key in nethack.CompassDirection}
_ASIDE = {"down": ord(">"), "up": ord("<"), "here": ord(".")}  # further answers to "direction?"

# The commands that are any use in these games. Others only inform, set up or begin another command,
# or open a prompt that no key here can answer.
_SPOKEN = {
    nethack.Command.APPLY: "apply",
    nethack.Command.EAT: "eat",
    nethack.Command.KICK: "kick",
    nethack.Command.OPEN: "open",
    nethack.Command.PICKUP: "pick up",
    nethack.Command.PRAY: "pray",
    nethack.Command.PUTON: "put on",
    nethack.Command.QUAFF: "quaff",
    nethack.Command.READ: "read",
    nethack.Command.REMOVE: "remove",
    nethack.Command.SEARCH: "search",
    nethack.Command.TAKEOFF: "take off",
    nethack.Command.THROW: "throw",
    nethack.Command.WEAR: "wear",
    nethack.Command.WIELD: "wield",
    nethack.Command.ZAP: "zap",
}
_IN_USE = re.compile(r"being worn|in hand|on (?:left|right) hand")
_CHOICES = re.compile(r"\[([^\]]*)\]")
_RANGE = re.compile(r"(\w)-(\w)")
_LEADING_ARTICLE = re.compile(r"^(?:an?|the) ")
_ASIDE_NOTE = re.compile(r" \([^)]*\)")


def command_names(keys: Iterable[int]) -> dict[str, int]:
    """The commands among a game's keys, by the words an agent uses."""
    known = {
        **{key: _COMPASS[key.name] for key in nethack.CompassDirection},
        **{key: f"far {_COMPASS[key.name]}" for key in nethack.CompassDirectionLonger},
        **_SPOKEN,
    }
    return {known[key]: int(key) for key in keys if key in known}


def pointless(
    items: Mapping[str, str], classes: Mapping[str, int], here: str, around: Iterable[str]
) -> set[str]:
    """The commands that could do nothing now, by what is carried, underfoot and next to one.

    Judged on the generous side: a command is left out only where the game would refuse it.
    """
    idle = {classes[letter] for letter, name in items.items() if not _IN_USE.search(name)}
    used = {classes[letter] for letter, name in items.items() if _IN_USE.search(name)}
    beside = set(around)
    drinkable = any(word in here for word in ("sink", "fountain", "water"))
    possible = {
        "wear": nethack.ARMOR_CLASS in idle,
        "take off": nethack.ARMOR_CLASS in used,
        "put on": bool(idle & {nethack.RING_CLASS, nethack.AMULET_CLASS}),
        "remove": bool(used & {nethack.RING_CLASS, nethack.AMULET_CLASS}),
        "quaff": nethack.POTION_CLASS in idle or drinkable,
        "read": bool(idle & {nethack.SCROLL_CLASS, nethack.SPBOOK_CLASS}),
        "zap": nethack.WAND_CLASS in idle,
        "apply": bool((idle | used) & {nethack.TOOL_CLASS, nethack.WAND_CLASS}),
        "eat": nethack.FOOD_CLASS in idle or bool(here),
        "wield": nethack.WEAPON_CLASS in idle,
        "pick up": bool(here),
        "throw": bool(items),
        "open": "closed door" in beside,
    }
    return {name for name, can in possible.items() if not can}


def answers(question: str, keys: Collection[int], items: Mapping[str, str]) -> dict[str, int]:
    """What may be answered to a question of the game, as words; a question can always be left."""
    named: dict[str, int] = {}
    listed = _CHOICES.search(question)
    if "direction" in question:
        directions = DIRECTIONS | _ASIDE
        named = {word: key for word, key in directions.items() if key in keys}
    elif listed is not None:
        for letter in _letters(listed.group(1)):
            if ord(letter) in keys:
                word = _answer(letter, items)
                named[f"{word} {letter}" if word in named else word] = ord(letter)
    named[CANCEL] = _ESCAPE
    return named


def _letters(listed: str) -> list[str]:
    """`a-cf or ?*` names a, b, c and f."""
    plain = listed.split(" or ")[0]
    spread = _RANGE.sub(lambda m: "".join(map(chr, range(ord(m[1]), ord(m[2]) + 1))), plain)
    return [letter for letter in dict.fromkeys(spread) if letter.isalpha()]


def _answer(letter: str, items: Mapping[str, str]) -> str:
    """Items by their names: letters differ from game to game, and names carry over."""
    if letter in items:
        return f"choose {_LEADING_ARTICLE.sub('', _ASIDE_NOTE.sub('', items[letter]))}"
    words = {"y": "yes", "n": "no", "q": "no more", "r": "right", "l": "left"}
    return words.get(letter, letter)
