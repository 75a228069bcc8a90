"""A ledger and a small store: money, accounts, stock and reports. Amounts are in cents."""
