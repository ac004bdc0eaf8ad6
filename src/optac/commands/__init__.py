"""The subcommands of `optac`, one module each: how it is parsed, and what it calls and prints."""
