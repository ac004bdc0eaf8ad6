"""The hierarchy of oracles, measured."""
