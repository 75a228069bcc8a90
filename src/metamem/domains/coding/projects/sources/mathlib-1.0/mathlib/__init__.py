"""Numbers, statistics, sequences and small matrices."""
