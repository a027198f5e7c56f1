"""The feed of changes on the side of the server: read for workers, and cleaned up."""
