"""The subcommands of `optac`, a module each: how it is parsed, and what it calls and prints."""
