"""Days of agents: the book of days, their summaries, and the steps that make them final."""
