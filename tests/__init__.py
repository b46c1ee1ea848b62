"""Tests mirror the tree; see each folder."""
