"""The feed of changes under faults: each change must reach streams and webhooks, whichever process is killed."""
