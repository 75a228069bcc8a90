"""Reading what agents and people wrote down elsewhere."""
