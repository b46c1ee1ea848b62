"""The one way out to addresses that a guild's members chose: address guard, pinned transport."""
