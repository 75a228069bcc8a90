import pytest
from webtools.address import Address, build, join, parse, same_site, tidy


def test_parse():
    address = parse("https://example.org:8080/a/b?x=1#top")
    assert (address.scheme, address.host, address.port) == ("https", "example.org", 8080)
    assert (address.path, address.query, address.fragment) == ("/a/b", "x=1", "top")


def test_parse_default_ports():
    assert parse("http://a.org/").port == 80
    assert parse("https://a.org/").port == 443


def test_parse_ignores_case():
    address = parse("HTTPS://Example.ORG/Path")
    assert (address.scheme, address.host, address.path) == ("https", "example.org", "/Path")
    assert address.port == 443


def test_parse_without_a_path():
    assert parse("http://a.org").path == "/"
    assert parse("http://a.org?x=1").query == "x=1"


def test_parse_trims():
    assert parse("  http://a.org/x ").path == "/x"


def test_parse_drops_the_user():
    assert parse("http://me:pw@a.org/").host == "a.org"


def test_parse_needs_a_scheme():
    with pytest.raises(ValueError, match="scheme"):
        parse("example.org/a")


def test_parse_needs_a_host():
    with pytest.raises(ValueError, match="host"):
        parse("http:///a")


def test_parse_checks_the_port():
    assert parse("http://a.org:65535").port == 65535
    assert parse("http://a.org:1").port == 1
    with pytest.raises(ValueError):
        parse("http://a.org:65536")
    with pytest.raises(ValueError):
        parse("http://a.org:0")


def test_build():
    assert build(Address("http", "a.org", 8080, "/x", "q=1", "f")) == "http://a.org:8080/x?q=1#f"


def test_build_leaves_out_the_usual_port():
    assert build(Address("https", "a.org", 443)) == "https://a.org/"
    assert build(Address("https", "a.org", 80)) == "https://a.org:80/"


def test_there_and_back():
    text = "ftp://files.org:2121/pub/x"
    assert build(parse(text)) == text


def test_join_relative():
    assert join("http://a.org/x/y", "z") == "http://a.org/x/z"
    assert join("http://a.org/x/y", "../z") == "http://a.org/z"


def test_join_absolute():
    assert join("http://a.org/x/y", "/z") == "http://a.org/z"
    assert join("http://a.org/x", "https://b.org/") == "https://b.org/"


def test_tidy():
    assert tidy("/a/./b/../c") == "/a/c"
    assert tidy("/../a") == "/a"


def test_same_site():
    assert same_site("http://a.org/x", "http://A.org:80/y")
    assert not same_site("http://a.org", "https://a.org")
