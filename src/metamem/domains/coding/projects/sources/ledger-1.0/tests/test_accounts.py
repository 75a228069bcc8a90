import pytest
from ledger.accounts import Account, lowest, net_worth, transfer


def filled():
    account = Account("main")
    account.deposit(1, 1000, "Pay")
    account.withdraw(3, 400, " rent ")
    account.deposit(5, 50)
    return account


def test_balance():
    assert filled().balance() == 650
    assert Account("new").balance() == 0


def test_balance_of_a_day():
    assert filled().balance(3) == 600
    assert filled().balance(2) == 1000
    assert filled().balance(0) == 0


def test_deposit_checks_the_amount():
    account = Account("a")
    account.deposit(1, 1)
    assert account.balance() == 1
    with pytest.raises(ValueError):
        account.deposit(1, 0)
    with pytest.raises(ValueError):
        account.deposit(1, -5)


def test_withdraw_checks_the_amount():
    account = filled()
    account.withdraw(6, 1)
    with pytest.raises(ValueError, match="positive"):
        account.withdraw(6, 0)


def test_withdraw_everything():
    account = filled()
    account.withdraw(6, 650)
    assert account.balance() == 0


def test_withdraw_too_much():
    with pytest.raises(ValueError, match="enough"):
        filled().withdraw(6, 651)


def test_withdraw_with_a_limit():
    account = Account("a", limit=100)
    account.withdraw(1, 100)
    assert account.balance() == -100
    with pytest.raises(ValueError):
        account.withdraw(1, 1)


def test_history():
    assert [e.day for e in filled().history()] == [5, 3, 1]
    assert [e.day for e in filled().history(newest_first=False)] == [1, 3, 5]


def test_find():
    assert [e.day for e in filled().find("RENT ")] == [3]
    assert [e.day for e in filled().find("pay")] == [1]


def test_notes_are_trimmed():
    account = Account("a")
    account.deposit(1, 5, " gift ")
    account.withdraw(1, 5, " gift ")
    assert [e.note for e in account.entries] == ["gift", "gift"]


def test_transfer():
    source, target = filled(), Account("other")
    transfer(source, target, 7, 150)
    assert (source.balance(), target.balance()) == (500, 150)
    assert source.entries[-1].note == "to other"
    assert target.entries[-1].note == "from main"


def test_transfer_to_itself():
    account = filled()
    with pytest.raises(ValueError, match="same"):
        transfer(account, account, 7, 1)


def test_failed_transfer_changes_nothing():
    source, target = filled(), Account("other")
    with pytest.raises(ValueError):
        transfer(source, target, 7, 9999)
    assert target.balance() == 0


def test_net_worth():
    assert net_worth([filled(), filled()]) == 1300
    assert net_worth([]) == 0


def test_lowest():
    account = Account("a", limit=500)
    account.withdraw(2, 300)
    account.deposit(3, 1000)
    account.withdraw(4, 900)
    assert lowest(account) == -300
    assert lowest(filled()) == 0


def test_lowest_goes_by_day():
    account = Account("a", limit=500)
    account.deposit(9, 400)
    account.withdraw(2, 300)
    assert lowest(account) == -300
