"""The tools that ship with the bot, one small module each."""

from tools.builtin.clock import current_time
from tools.builtin.dice import roll_dice
from tools.builtin.memory import forget, recall, remember
from tools.registry import Registry
from tools.toolset import FixedTools, Toolset, offering

ON_BY_DEFAULT = (
    *("roll_dice", "current_time", "remember", "recall", "forget", "calculate"),
    *("web_search", "web_fetch", "generate_image", "knowledge_search"),
)
"""What a fresh guild has: six tools, and those that wait for a toggle, a key or a document of
their own. Every further tool makes small models worse at choosing; an admin adds them."""


def builtin_registry() -> Registry:
    """All built-in tools, in the order in which they are offered."""
    return Registry(roll_dice, current_time, remember, recall, forget)


def builtin_tools() -> Toolset:
    """The toolset of all built-in tools."""
    return FixedTools(offering(builtin_registry(), on=ON_BY_DEFAULT))
