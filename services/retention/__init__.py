"""What is removed after a time, and bounds of sessions that nobody ends. What is forgotten by hand is another matter.

Must not know: when it is done, who asks.
"""
