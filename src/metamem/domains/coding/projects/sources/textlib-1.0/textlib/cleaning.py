"""Bring text into a plain form."""


def normalize_spaces(text: str) -> str:
    """One space between words, none at the ends."""
    return " ".join(text.split())


def slugify(title: str, separator: str = "-") -> str:
    """A title as a part of a web address."""
    kept = [c if c.isalnum() else " " for c in title.strip().lower()]
    return separator.join("".join(kept).split())


def strip_comments(text: str, marker: str = "#") -> str:
    """The text without what follows a marker, and without lines that become empty."""
    lines = [line.split(marker, 1)[0].rstrip() for line in text.splitlines()]
    return "\n".join(line for line in lines if line)


def remove_vowels(text: str) -> str:
    return "".join(c for c in text if c.lower() not in "aeiou")


def unquote(text: str) -> str:
    """The text without one pair of quotes around it."""
    text = text.strip()
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "'\"":
        return text[1:-1]
    return text


def parse_flag(text: str) -> bool:
    word = text.strip().lower()
    if word in ("yes", "true", "on", "1"):
        return True
    if word in ("no", "false", "off", "0", ""):
        return False
    raise ValueError(f"not a flag: {text}")


def split_list(text: str, separator: str = ",") -> list[str]:
    """The items of a list, without spaces around them and without empty ones."""
    items = [item.strip() for item in text.split(separator)]
    return [item for item in items if item]


def same_text(left: str, right: str) -> bool:
    """Whether two texts are equal but for case and spaces."""
    return normalize_spaces(left).lower() == normalize_spaces(right).lower()


def initials(name: str) -> str:
    return "".join(word[0].upper() for word in name.split())
