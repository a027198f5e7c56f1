"""Load: many agents with the timing of people, until the system is full; the time from turn to memory.

`python -m proof.load` runs four parts, each in its own process and on its own servers, and writes one report:

    lag        steps of offered load up to the highest carried one: the wait of a turn, by cause
    fairness   the same agents beside one of a hundred times their traffic
    recovery   workers that return to the backlog of an hour
    memory     the memory of every process over half an hour

It calls the hooks that any agent's host calls, and reads only what users may read.
"""
