"""The loop that runs every algorithm, its handle and its accounts."""
