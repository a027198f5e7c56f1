"""What search needs besides its query: passages and statistics of terms."""
