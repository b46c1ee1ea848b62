"""What the bot says on Discord, in the languages of those who read it.

English is the source: it stands in the code, and a catalogue file maps it to another language.
"""
