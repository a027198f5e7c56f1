"""Read conversations that another program keeps (`memory.source`), and record them as events."""
