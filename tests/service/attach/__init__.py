"""The installer, the hook, the daemon."""
