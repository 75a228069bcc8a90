import pytest
from datelib.clock import convert, duration, format_time, parse_offset, parse_time, spell, to_utc


def test_parse_time():
    assert parse_time("14:05") == 845
    assert parse_time("00:00") == 0
    assert parse_time("23:59") == 1439


def test_parse_time_halves():
    assert parse_time("2:05 pm") == 845
    assert parse_time("2 AM") == 120


def test_parse_time_at_twelve():
    assert parse_time("12 am") == 0
    assert parse_time("12:30pm") == 750


def test_parse_time_refuses():
    for text in ("24:00", "10:60", "13 pm", "0 am"):
        with pytest.raises(ValueError, match="no such time"):
            parse_time(text)


def test_parse_time_trims():
    assert parse_time(" 1:00 ") == 60


def test_format_time():
    assert format_time(845) == "14:05"
    assert format_time(5) == "00:05"


def test_format_time_past_midnight():
    assert format_time(1440) == "00:00"
    assert format_time(-60) == "23:00"


def test_parse_offset():
    assert parse_offset("+02:00") == 120
    assert parse_offset("-0530") == -330
    assert parse_offset("+01") == 60


def test_parse_offset_of_utc():
    assert parse_offset("Z") == 0
    assert parse_offset(" utc ") == 0


def test_to_utc():
    assert to_utc(600, 120) == (480, 0)


def test_to_utc_moves_the_date():
    assert to_utc(60, 120) == (1380, -1)
    assert to_utc(1380, -120) == (60, 1)


def test_convert():
    assert convert(600, 120, 0) == 480
    assert convert(600, 0, 120) == 720
    assert convert(1400, 0, 60) == 20


def test_duration():
    assert duration(60, 90) == 30
    assert duration(1430, 10) == 20


def test_spell():
    assert spell(90) == "1 h 30 min"
    assert spell(45) == "45 min"
    assert spell(120) == "2 h"
    assert spell(0) == "0 min"


def test_spell_negative():
    with pytest.raises(ValueError):
        spell(-1)
