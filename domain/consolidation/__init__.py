"""What follows from what memories say: groups that merge, values that supersede each other, claims that wait.

Must not know: where memories are stored, and how a plan is carried out.
"""
