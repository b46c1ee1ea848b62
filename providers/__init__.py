"""Adapters for model endpoints, and the parser that reads tool calls out of text."""
