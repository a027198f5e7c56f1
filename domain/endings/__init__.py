"""Find memories that a statement ends: a rejection, correction, lifted or newer instruction, or the outcome of work."""
