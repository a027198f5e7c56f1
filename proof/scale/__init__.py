"""Scale: what each operation costs at a size, beside its cost at a hundredth of that."""
