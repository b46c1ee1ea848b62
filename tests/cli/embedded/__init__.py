"""The embedded endpoint."""
