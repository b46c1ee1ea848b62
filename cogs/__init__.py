"""The Discord surface; with bot.py the only place that imports discord."""
