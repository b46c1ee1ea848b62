"""An ordinary discord.py bot that greets back; nothing in it knows of the loopback server."""

import os

import discord

client = discord.Client(intents=discord.Intents(guilds=True, guild_messages=True))


@client.event
async def on_message(message: discord.Message) -> None:
    if client.user is not None and client.user in message.mentions:
        await message.reply(f"hello {message.author.name}")


client.run(os.environ["DISCORD_TOKEN"])
