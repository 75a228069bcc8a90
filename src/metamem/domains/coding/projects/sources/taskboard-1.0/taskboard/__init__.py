"""A board of tasks: states, filters, plans and a plain text form."""
