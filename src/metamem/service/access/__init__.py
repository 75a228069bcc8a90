"""Access: who there is, what each may do, and who did what."""
