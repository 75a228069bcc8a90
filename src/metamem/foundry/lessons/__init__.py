"""What sessions teach beside failures and workflows: patterns, insights, successes.

`taking.take_in` reads sessions and draws lessons of them; `store` gives them to whoever reports.
"""
