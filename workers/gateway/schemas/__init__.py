"""The requests and answers of routes, as OpenAPI documents them."""
