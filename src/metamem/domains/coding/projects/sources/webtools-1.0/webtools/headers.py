"""Headers: names without regard to case."""


def parse_headers(text: str) -> dict[str, str]:
    """Names in lower case; the values of a repeated name are joined by a comma."""
    headers: dict[str, str] = {}
    for line in text.splitlines():
        name, colon, value = line.partition(":")
        if not colon:
            continue
        name, value = name.strip().lower(), value.strip()
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return headers


def get_header(headers: dict[str, str], name: str, default: str = "") -> str:
    return headers.get(name.strip().lower(), default)


def content_type(headers: dict[str, str]) -> tuple[str, dict[str, str]]:
    """The type in lower case, and its parameters."""
    value = get_header(headers, "Content-Type", "text/plain")
    kind, *rest = value.split(";")
    parameters = {}
    for part in rest:
        name, _, setting = part.partition("=")
        parameters[name.strip().lower()] = setting.strip().strip('"')
    return kind.strip().lower(), parameters


def parse_accept(text: str) -> list[str]:
    """What is accepted, the best liked first; what has weight 0 is left out."""
    ranked = []
    for part in text.split(","):
        kind, _, weight = part.partition(";q=")
        liking = float(weight) if weight else 1.0
        if liking > 0:
            ranked.append((kind.strip().lower(), liking))
    ranked.sort(key=lambda entry: entry[1], reverse=True)
    return [kind for kind, _ in ranked]


def parse_cookies(text: str) -> dict[str, str]:
    cookies = {}
    for part in text.split(";"):
        name, mark, value = part.strip().partition("=")
        if mark:
            cookies[name] = value.strip('"')
    return cookies


def max_age(headers: dict[str, str], default: int = 0) -> int:
    """For how many seconds a response may be kept."""
    for part in get_header(headers, "Cache-Control").lower().split(","):
        name, _, value = part.strip().partition("=")
        if name == "no-store":
            return 0
        if name == "max-age" and value.isdigit():
            return int(value)
    return default
