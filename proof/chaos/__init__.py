"""Chaos: agents talk while servers and processes are killed, paused and emptied; then every invariant is checked."""
