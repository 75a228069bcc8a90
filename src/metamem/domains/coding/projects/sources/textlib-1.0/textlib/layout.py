"""Fit text into lines and columns."""


def truncate(text: str, width: int, ending: str = "...") -> str:
    """The text cut to a width, with the ending as part of it."""
    if len(text) <= width:
        return text
    if width <= len(ending):
        return ending[:width]
    return text[: width - len(ending)].rstrip() + ending


def wrap(text: str, width: int) -> list[str]:
    """Lines no longer than a width; a longer word has a line of its own."""
    if width < 1:
        raise ValueError("width must be positive")
    lines: list[str] = []
    line = ""
    for word in text.split():
        if line and len(line) + 1 + len(word) > width:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}" if line else word
    if line:
        lines.append(line)
    return lines


def center(text: str, width: int, fill: str = " ") -> str:
    """The text in the middle; what is left over goes to the right."""
    missing = width - len(text)
    if missing <= 0:
        return text
    left = missing // 2
    return fill * left + text + fill * (missing - left)


def indent(text: str, width: int = 4) -> str:
    """All lines moved to the right, but for empty ones."""
    pad = " " * width
    return "\n".join(pad + line if line.strip() else "" for line in text.split("\n"))


def table(rows: list[list[str]], gap: int = 2) -> str:
    if not rows:
        return ""
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        lines.append((" " * gap).join(cells).rstrip())
    return "\n".join(lines)


def title_case(text: str) -> str:
    """Capitals for all words but small ones inside."""
    words = text.lower().split()
    small = ("a", "and", "in", "of", "the", "to")
    return " ".join(
        word if i > 0 and word in small else word.capitalize() for i, word in enumerate(words)
    )
