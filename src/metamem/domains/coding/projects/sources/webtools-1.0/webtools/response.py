"""Responses: status, headers, body."""

from dataclasses import dataclass

from webtools.headers import content_type, get_header, parse_headers

REDIRECTS = (301, 302, 303, 307, 308)


@dataclass
class Response:
    status: int
    reason: str
    headers: dict[str, str]
    body: str

    def ok(self) -> bool:
        return 200 <= self.status < 300

    def is_redirect(self) -> bool:
        return self.status in REDIRECTS and bool(get_header(self.headers, "Location"))

    def is_json(self) -> bool:
        kind = content_type(self.headers)[0]
        return kind == "application/json" or kind.endswith("+json")


def parse_response(text: str) -> Response:
    head, _, body = text.replace("\r\n", "\n").partition("\n\n")
    line, _, rest = head.partition("\n")
    words = line.split(" ", 2)
    if len(words) < 2 or not words[0].startswith("HTTP/"):
        raise ValueError(f"not a response: {line}")
    reason = words[2] if len(words) > 2 else ""
    headers = parse_headers(rest)
    length = get_header(headers, "Content-Length")
    if length:
        body = body[: int(length)]
    return Response(int(words[1]), reason, headers, body)


def status_class(status: int) -> str:
    names = {1: "info", 2: "success", 3: "redirect", 4: "client error", 5: "server error"}
    return names.get(status // 100, "unknown")


def should_retry(status: int, attempt: int, most: int = 3) -> bool:
    """Whether to try again after so many attempts."""
    if attempt >= most:
        return False
    return status == 429 or status >= 500


def retry_delay(attempt: int, base: int = 1, limit: int = 60) -> int:
    """Seconds to wait: twice as long each time, up to a limit. Attempts count from 1."""
    return min(base * 2 ** (attempt - 1), limit)
