"""Reads tool calls out of a model's text, sans-IO."""
