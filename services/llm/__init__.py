"""Models: the drivers that call them, the gate that limits the calls, and the budgets."""
