"""Tests of tools/builtin/."""
