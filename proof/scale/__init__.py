"""Scale: the cost of each operation at a size, compared with a hundredth of that size."""
