"""Handles documents and expressions of strangers in a process of its own, within limits."""
