from webtools.headers import (
    content_type,
    get_header,
    max_age,
    parse_accept,
    parse_cookies,
    parse_headers,
)


def test_parse_headers():
    assert parse_headers("Host: a.org\nX-One: 1") == {"host": "a.org", "x-one": "1"}


def test_parse_headers_trims():
    assert parse_headers(" Host :  a.org  ") == {"host": "a.org"}


def test_parse_headers_value_with_colon():
    assert parse_headers("Host: a.org:80") == {"host": "a.org:80"}


def test_parse_headers_repeated():
    assert parse_headers("Via: a\nvia: b") == {"via": "a, b"}


def test_parse_headers_skips_other_lines():
    assert parse_headers("nothing\nA: b") == {"a": "b"}


def test_get_header():
    assert get_header({"host": "a"}, "Host") == "a"
    assert get_header({"host": "a"}, " HOST ") == "a"


def test_get_header_default():
    assert get_header({}, "Host") == ""
    assert get_header({}, "Host", "x") == "x"


def test_content_type():
    assert content_type({"content-type": "text/html; charset=utf-8"}) == (
        "text/html",
        {"charset": "utf-8"},
    )


def test_content_type_case_and_quotes():
    assert content_type({"content-type": 'Text/HTML ; Charset = "UTF-8"'}) == (
        "text/html",
        {"charset": "UTF-8"},
    )


def test_content_type_default():
    assert content_type({}) == ("text/plain", {})


def test_parse_accept():
    assert parse_accept("text/html;q=0.5, Text/Plain") == ["text/plain", "text/html"]


def test_parse_accept_keeps_equals_in_order():
    assert parse_accept("b/b, a/a, c/c;q=0.1") == ["b/b", "a/a", "c/c"]


def test_parse_accept_weight_zero():
    assert parse_accept("a/a;q=0, b/b;q=0.1") == ["b/b"]


def test_parse_cookies():
    assert parse_cookies('a=1; b="two"; c=x=y') == {"a": "1", "b": "two", "c": "x=y"}


def test_parse_cookies_skips_other_parts():
    assert parse_cookies("secure; a=1") == {"a": "1"}


def test_max_age():
    assert max_age({"cache-control": "public, max-age=60"}) == 60
    assert max_age({"cache-control": "Max-Age=5"}) == 5


def test_max_age_not_stored():
    assert max_age({"cache-control": "no-store, max-age=60"}, 9) == 0


def test_max_age_default():
    assert max_age({}) == 0
    assert max_age({"cache-control": "max-age=soon"}, 7) == 7
