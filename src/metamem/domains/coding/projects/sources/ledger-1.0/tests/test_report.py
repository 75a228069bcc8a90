from ledger.accounts import Account, Entry
from ledger.report import biggest, by_month, by_note, expenses, income, savings_rate, statement

ENTRIES = [
    Entry(1, 1000, "Pay"),
    Entry(10, -300, "rent"),
    Entry(30, -100, " food "),
    Entry(31, -50, "Food"),
    Entry(61, 20),
]


def test_by_note():
    assert by_note(ENTRIES) == {"pay": 1000, "rent": -300, "food": -150, "other": 20}


def test_by_month():
    assert by_month(ENTRIES) == {1: 600, 2: -50, 3: 20}


def test_income():
    assert income(ENTRIES) == 1020


def test_expenses():
    assert expenses(ENTRIES) == 450
    assert expenses([]) == 0


def test_biggest():
    assert [e.amount for e in biggest(ENTRIES)] == [1000, -300, -100]
    assert [e.amount for e in biggest(ENTRIES, 1)] == [1000]


def test_savings_rate():
    assert savings_rate([Entry(1, 1000), Entry(2, -250)]) == 75
    assert savings_rate([Entry(1, 300), Entry(2, -100)]) == 66


def test_savings_rate_without_income():
    assert savings_rate([Entry(1, -10)]) == 0
    assert savings_rate([]) == 0


def test_statement():
    account = Account("a", limit=1000)
    for entry in ENTRIES:
        account.entries.append(entry)
    assert statement(account, 10, 30) == (
        "Before: 10.00\n10: -3.00 rent\n30: -1.00  food\nAfter: 6.00"
    )


def test_statement_without_entries():
    assert statement(Account("a"), 1, 5) == "Before: 0.00\nAfter: 0.00"
