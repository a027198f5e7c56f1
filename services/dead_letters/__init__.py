"""Dead letters and quarantined events: store, retry, dismiss."""
