"""Data for searches: passages of events, and statistics of terms."""
