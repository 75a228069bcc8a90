"""Queries: what follows the question mark."""

SAFE = "-._~"


def quote(text: str) -> str:
    """Spaces become +, other odd letters %XX."""
    result = ""
    for c in text:
        if c.isascii() and (c.isalnum() or c in SAFE):
            result += c
        elif c == " ":
            result += "+"
        else:
            result += "".join(f"%{byte:02X}" for byte in c.encode())
    return result


def unquote(text: str) -> str:
    data = bytearray()
    i = 0
    text = text.replace("+", " ")
    while i < len(text):
        if text[i] == "%" and i + 2 < len(text):
            data.append(int(text[i + 1 : i + 3], 16))
            i += 3
        else:
            data.extend(text[i].encode())
            i += 1
    return data.decode()


def parse_query(text: str) -> dict[str, list[str]]:
    """All values of each name; a name without = has an empty one."""
    values: dict[str, list[str]] = {}
    for pair in text.removeprefix("?").split("&"):
        if not pair:
            continue
        name, _, value = pair.partition("=")
        values.setdefault(unquote(name), []).append(unquote(value))
    return values


def build_query(values: dict[str, list[str]]) -> str:
    """Names in the order of the alphabet."""
    pairs = []
    for name in sorted(values):
        pairs.extend(f"{quote(name)}={quote(value)}" for value in values[name])
    return "&".join(pairs)


def first(values: dict[str, list[str]], name: str, default: str = "") -> str:
    found = values.get(name)
    if not found:
        return default
    return found[0]
