"""Questions and conflicts: how they are registered, decided and closed."""
