"""The tools that ship with the bot, one small module each."""

from tools.builtin.clock import current_time
from tools.builtin.dice import roll_dice
from tools.builtin.memory import forget, recall, remember
from tools.registry import Registry


def builtin_registry() -> Registry:
    """All built-in tools, in the order in which they are offered."""
    return Registry(roll_dice, current_time, remember, recall, forget)
