"""OpenAI-compatible endpoints; the only place that imports the openai client."""
