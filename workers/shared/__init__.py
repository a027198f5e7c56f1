"""What the command line, the console and the gateway share."""
