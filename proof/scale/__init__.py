"""Scale: what each operation costs at a size, beside its cost at a hundredth of that.

Must not know: how statements are planned: plans are asked for, and shown.
"""
