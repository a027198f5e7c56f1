"""What ends what: a rejection, a correction, a lifted instruction, a newer instruction, the outcome of open work.

Must not know: where memories are stored, and how an end is carried out.
"""
