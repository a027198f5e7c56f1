"""Models: the drivers that ask one, the gate that bounds how often, and who pays.

Must not know: contents of prompts, the use of answers.
"""
