"""What routes take and answer, as OpenAPI documents it."""
