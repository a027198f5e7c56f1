"""Rebuilding memories: another extractor reads the kept events, beside the live memories, and the two are switched."""
