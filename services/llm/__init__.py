"""Models: the drivers that ask one, the gate that bounds how often, and who pays."""
