"""Read-only reports for operators: system status, reasons why a session waits, provenance of a memory."""
