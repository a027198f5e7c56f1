"""Import data of another system as memories and conversations of an agent, as a run that can be undone."""
