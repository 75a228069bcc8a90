from webtools.query import build_query, first, parse_query, quote, unquote


def test_quote():
    assert quote("a b&c") == "a+b%26c"
    assert quote("x-y_z.~") == "x-y_z.~"


def test_quote_other_alphabets():
    assert quote("é") == "%C3%A9"


def test_unquote():
    assert unquote("a+b%26c") == "a b&c"
    assert unquote("%C3%A9") == "é"


def test_unquote_lone_percent():
    assert unquote("100%") == "100%"
    assert unquote("5%2") == "5%2"


def test_parse_query():
    assert parse_query("a=1&b=2&a=3") == {"a": ["1", "3"], "b": ["2"]}


def test_parse_query_with_mark():
    assert parse_query("?a=1") == {"a": ["1"]}


def test_parse_query_without_value():
    assert parse_query("a&b=") == {"a": [""], "b": [""]}


def test_parse_query_empty():
    assert parse_query("") == {}
    assert parse_query("&&a=1&") == {"a": ["1"]}


def test_parse_query_unquotes():
    assert parse_query("my+name=J%26K") == {"my name": ["J&K"]}
    assert parse_query("f=a=b") == {"f": ["a=b"]}


def test_build_query():
    assert build_query({"b": ["2"], "a": ["1", "x y"]}) == "a=1&a=x+y&b=2"


def test_first():
    assert first({"a": ["1", "2"]}, "a") == "1"


def test_first_default():
    assert first({}, "a") == ""
    assert first({"a": []}, "a", "z") == "z"
