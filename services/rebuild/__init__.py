"""Rebuild memories: another extractor reads the stored events, beside the live memories; then the results are
switched.
"""
