"""What is laid beside a request."""

import pytest

from metamem.knowledge.shelf import lay_out


@pytest.fixture(autouse=True)
def here(indexed, monkeypatch):
    monkeypatch.setenv("METAMEM_KNOWLEDGE", str(indexed))


def test_each_piece_that_fits_is_quoted_once():
    told = lay_out("shop", ["retry a payment", "payment attempts"])
    assert told.count("def retry_payment") == 1 and "not orders" in told


def test_where_nothing_fits_that_is_said():
    told = lay_out("shop", ["zebra quux"])
    assert "Nothing in it has to do with this request" in told and "Quoted" not in told
