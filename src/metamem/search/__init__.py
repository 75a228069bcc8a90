"""The loop: select parents, propose, verify, evaluate, keep."""
