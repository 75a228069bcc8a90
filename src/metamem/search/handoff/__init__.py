"""Hand-off: whoever can read and write files is the proposer, such as a coding agent."""
