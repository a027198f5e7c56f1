"""Feed mem0: deliver the outbox, and remove forgotten copies."""
