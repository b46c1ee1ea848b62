"""Measures how a model calls tools under other settings, and sets those that do best."""
