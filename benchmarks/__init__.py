"""Measurements of Verbatim: `make bench`, or one script by itself with `python -m`."""
