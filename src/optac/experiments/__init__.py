"""What to run, running it, and the store of runs."""
