"""Tests of the Discord surface."""
