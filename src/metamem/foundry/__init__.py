"""What agents do again and again becomes tools that run without tokens."""
