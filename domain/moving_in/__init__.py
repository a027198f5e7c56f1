"""What other systems keep, read into one form: finished memories, messages of conversations, and what can't be read.

Must not know: files, databases, which agent gets what is read.
"""
