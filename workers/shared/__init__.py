"""What the command line, the console and the gateway share.

Must not know: any single command, page or route.
"""
