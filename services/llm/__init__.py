"""Models: the drivers that ask one, the gate that bounds how often, and who pays.

Must not know: what is asked for, and what becomes of the answer.
"""
