"""Rebuild memories: another extractor reads the events beside the live memories; then results are switched."""
