"""Questions and conflicts: register, decide and close them."""
