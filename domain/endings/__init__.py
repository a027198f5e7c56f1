"""Endings: rejections, corrections, lifted instructions, newer instructions, and outcomes of open work end memories.

Must not know: where memories are stored, and how an end is carried out.
"""
