"""The feed of changes under faults: each change reaches streams and webhooks, whichever process is killed."""
