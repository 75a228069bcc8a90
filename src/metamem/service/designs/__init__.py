"""Learned designs, served: the memory of a scope, what comes back of it, and learning from that."""
