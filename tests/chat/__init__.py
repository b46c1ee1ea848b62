"""Tests of chat/."""
