"""Measure the redaction: the share of found secrets by kind, language and spelling, and the damaged ordinary
sentences.
"""
