"""One run: its identity, folder, lease and provenance; a solve and a training as runs."""
