"""The exporter: how Slowwave is, in the text that Prometheus reads.

Must not know: Celery's tasks; how figures are read (services/reports/metrics).
"""
