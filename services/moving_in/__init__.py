"""Moving in: what another system kept becomes memories and conversations of an agent, as a run that can be undone."""
