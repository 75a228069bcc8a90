import pytest
from webtools.response import (
    Response,
    parse_response,
    retry_delay,
    should_retry,
    status_class,
)


def answer(status, **headers):
    return Response(status, "", headers, "")


def test_ok():
    assert answer(200).ok()
    assert answer(299).ok()
    assert not answer(300).ok()
    assert not answer(199).ok()


def test_redirect():
    assert answer(301, location="/x").is_redirect()
    assert not answer(301).is_redirect()
    assert not answer(200, location="/x").is_redirect()


def test_json():
    assert Response(200, "", {"content-type": "Application/JSON; charset=x"}, "").is_json()
    assert Response(200, "", {"content-type": "application/feed+json"}, "").is_json()
    assert not answer(200).is_json()


def test_parse_response():
    response = parse_response("HTTP/1.1 404 Not Found\r\nX-A: 1\r\n\r\nsorry\r\n")
    assert (response.status, response.reason) == (404, "Not Found")
    assert response.headers == {"x-a": "1"}
    assert response.body == "sorry\n"


def test_parse_response_without_reason():
    assert parse_response("HTTP/1.1 204\n\n").reason == ""


def test_parse_response_length():
    assert parse_response("HTTP/1.1 200 OK\nContent-Length: 3\n\nabcdef").body == "abc"


def test_parse_response_body_with_gaps():
    assert parse_response("HTTP/1.1 200 OK\n\na\n\nb").body == "a\n\nb"


def test_parse_response_refuses_other_text():
    with pytest.raises(ValueError, match="not a response"):
        parse_response("hello there")
    with pytest.raises(ValueError, match="not a response"):
        parse_response("HTTP/1.1")


def test_status_class():
    assert status_class(204) == "success"
    assert status_class(404) == "client error"
    assert status_class(500) == "server error"
    assert status_class(700) == "unknown"


def test_should_retry():
    assert should_retry(500, 1)
    assert should_retry(429, 2)
    assert not should_retry(404, 1)
    assert not should_retry(499, 1)


def test_should_retry_not_forever():
    assert not should_retry(500, 3)
    assert should_retry(503, 3, most=4)


def test_retry_delay():
    assert [retry_delay(n) for n in (1, 2, 3)] == [1, 2, 4]
    assert retry_delay(2, base=3) == 6


def test_retry_delay_limit():
    assert retry_delay(10) == 60
    assert retry_delay(5, limit=10) == 10
