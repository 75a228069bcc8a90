"""The jail: a fork server that makes confined processes, its guests, and the host's side of it.

What the guests are for is not known here: see `metamem.designs.jailed` for one use.

Nothing is imported here: the jailed side loads this package too, and pays for every page.
"""
