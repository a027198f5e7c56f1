"""Check the installed packages for known vulnerabilities, and report packages that could not be checked."""
