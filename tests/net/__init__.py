"""Tests of net/."""
