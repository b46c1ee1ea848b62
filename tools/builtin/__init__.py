"""The tools that ship with the bot, one small module each."""
