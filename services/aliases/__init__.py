"""Let people edit aliases (names with the same meaning), and undo such edits.

editing    add or remove an alias: each edit is a run that can be undone
undoing    undo such a run
"""
