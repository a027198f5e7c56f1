"""The exporter: how Slowwave is, in the text that Prometheus reads."""
