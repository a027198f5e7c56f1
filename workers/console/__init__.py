"""The console: pages for people, rendered on the server, with the same reports and services as the shell."""
