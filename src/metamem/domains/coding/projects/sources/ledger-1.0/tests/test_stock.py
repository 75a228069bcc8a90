import pytest
from ledger.stock import Stock


def filled():
    stock = Stock()
    stock.add("nut", 10, 20)
    stock.add("bolt", 3, 50)
    stock.add("saw", 3, 900)
    return stock


def test_add():
    item = Stock().add("nut", 4, 20)
    assert (item.code, item.count, item.price) == ("NUT", 4, 20)


def test_add_one_by_default():
    assert Stock().add("nut").count == 1


def test_add_averages_the_price():
    stock = Stock()
    stock.add("nut", 1, 10)
    stock.add("nut", 3, 20)
    assert stock.get("nut").price == 17


def test_add_ignores_case_and_spaces():
    stock = Stock()
    stock.add("nut")
    stock.add(" NUT ")
    assert stock.get("Nut").count == 2


def test_add_at_least_one():
    with pytest.raises(ValueError):
        Stock().add("nut", 0)


def test_get_unknown():
    with pytest.raises(KeyError, match="no item"):
        Stock().get("x")


def test_remove():
    stock = filled()
    worth = stock.remove(" nut ", 4)
    assert worth == 80
    assert stock.get("nut").count == 6


def test_remove_one_by_default():
    stock = filled()
    stock.remove("saw")
    assert stock.get("saw").count == 2


def test_remove_all():
    stock = filled()
    stock.remove("bolt", 3)
    assert stock.get("bolt").count == 0


def test_remove_too_many():
    with pytest.raises(ValueError, match="shelf"):
        filled().remove("bolt", 4)


def test_value():
    assert filled().value() == 200 + 150 + 2700
    assert Stock().value() == 0


def test_to_order():
    stock = filled()
    assert stock.to_order() == ["BOLT", "SAW"]
    stock.remove("saw")
    assert stock.to_order() == ["SAW", "BOLT"]


def test_to_order_at_the_limit():
    stock = filled()
    stock.remove("nut", 5)
    assert "NUT" in stock.to_order()


def test_dearest():
    assert filled().dearest() == ["SAW", "BOLT", "NUT"]
    assert filled().dearest(1) == ["SAW"]


def test_dearest_of_equals():
    stock = Stock()
    stock.add("z", 1, 5)
    stock.add("b", 1, 5)
    assert stock.dearest() == ["B", "Z"]
