"""What went wrong, and what then worked.

`signature` names a failure, `link` says what resolved it, and `store` keeps both.
"""
