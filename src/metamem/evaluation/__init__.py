"""Playing tasks with and without a memory, and what the rows say."""
