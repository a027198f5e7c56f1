"""The exporter: metrics of Slowwave in the text format of Prometheus."""
