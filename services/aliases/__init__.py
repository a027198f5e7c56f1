"""What people change about names that mean the same, and taking that back.

editing    add an alias, remove one: each a run that can be undone
undoing    take such a run back
"""
