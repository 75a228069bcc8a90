"""The jail: a fork server that makes confined processes, and the host's side of it.

Nothing is imported here: the jailed side loads this package too, and pays for every page.
"""
