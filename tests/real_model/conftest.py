"""An endpoint that the environment names; without one, everything here is skipped, and says so."""

import os

import openai
import pytest

VARIABLE = "SLOWWAVE_TEST_MODEL_URL"


@pytest.fixture(scope="session")
def model_url() -> str:
    """The base URL of an endpoint that speaks OpenAI's chat API."""
    url = os.environ.get(VARIABLE, "")
    if not url:
        pytest.skip(f"{VARIABLE} names no endpoint (docs/models.md tells how to serve a small model)")
    return url


@pytest.fixture(scope="session")
def model_name(model_url: str) -> str:
    """The first model that the endpoint lists; servers with one model of their own may list none."""
    with openai.OpenAI(base_url=model_url, api_key="none", max_retries=0) as client:
        try:
            return next(iter(client.models.list())).id
        except (openai.APIError, StopIteration):
            return "any"
