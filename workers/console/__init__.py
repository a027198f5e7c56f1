"""The console: pages for people, rendered on the server, over the reports and services that the shell uses."""
