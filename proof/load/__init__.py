"""Load: many agents with the timing of people, until the system is full; what a turn waits to become memory."""
