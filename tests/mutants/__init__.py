"""Breaks the parser one rule at a time, to see whether its tests notice: `make mutants`."""
