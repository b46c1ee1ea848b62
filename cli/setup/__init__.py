"""The first day: finds a model server, checks the token, tries a turn, writes config.toml."""
