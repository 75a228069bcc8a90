"""Long conversations and questions about them, scored without a judge."""
