"""Days of agents: their book, their summaries, and how they become final."""
