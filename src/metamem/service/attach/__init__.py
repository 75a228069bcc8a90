"""Memory attached to coding agents: the installer, the hook that they run, and the daemon behind it."""
