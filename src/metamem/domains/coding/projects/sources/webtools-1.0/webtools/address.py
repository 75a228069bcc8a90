"""Take addresses apart and put them together."""

from dataclasses import dataclass

PORTS = {"http": 80, "https": 443, "ftp": 21}


@dataclass
class Address:
    scheme: str
    host: str
    port: int
    path: str = "/"
    query: str = ""
    fragment: str = ""


def parse(text: str) -> Address:
    scheme, mark, rest = text.strip().partition("://")
    if not mark:
        raise ValueError(f"no scheme in {text}")
    scheme = scheme.lower()
    rest, _, fragment = rest.partition("#")
    rest, _, query = rest.partition("?")
    place, slash, path = rest.partition("/")
    place = place.rpartition("@")[2]
    host, colon, port = place.partition(":")
    if not host:
        raise ValueError(f"no host in {text}")
    number = int(port) if colon else PORTS.get(scheme, 80)
    if number < 1 or number > 65535:
        raise ValueError(f"no such port: {number}")
    return Address(scheme, host.lower(), number, slash + path or "/", query, fragment)


def build(address: Address) -> str:
    """The address as text; a port that goes without saying is left out."""
    text = f"{address.scheme}://{address.host}"
    if PORTS.get(address.scheme) != address.port:
        text += f":{address.port}"
    text += address.path
    if address.query:
        text += f"?{address.query}"
    if address.fragment:
        text += f"#{address.fragment}"
    return text


def join(base: str, link: str) -> str:
    """Where a link on a page leads."""
    if "://" in link:
        return link
    start = parse(base)
    if link.startswith("/"):
        path = link
    else:
        path = start.path.rpartition("/")[0] + "/" + link
    return build(Address(start.scheme, start.host, start.port, tidy(path)))


def tidy(path: str) -> str:
    """A path without . and .. in it."""
    parts: list[str] = []
    for part in path.split("/")[1:]:
        if part == "..":
            if parts:
                parts.pop()
        elif part != ".":
            parts.append(part)
    return "/" + "/".join(parts)


def same_site(left: str, right: str) -> bool:
    a, b = parse(left), parse(right)
    return (a.scheme, a.host, a.port) == (b.scheme, b.host, b.port)
