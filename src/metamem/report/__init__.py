"""What people look at: the HTML report of a run."""
