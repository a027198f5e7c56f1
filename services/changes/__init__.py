"""The feed of changes on the server: read by workers, and cleaned up."""
