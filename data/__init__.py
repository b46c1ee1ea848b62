"""What is kept: the SQLite database, its migrations and repositories, and process settings."""
