"""Extraction by a model, the pure part: build a prompt from a window, and candidates from an untrusted answer."""

from slowwave_server.domain.model_extraction.answers import Checked, UnusableAnswer, read_answer
from slowwave_server.domain.model_extraction.asking import PROMPT, Asked, ShownEvent, prompt_of, read_window
from slowwave_server.domain.model_extraction.known import KnownContext, KnownMemory, is_presentable

__all__ = [
    "PROMPT",
    "Asked",
    "Checked",
    "KnownContext",
    "KnownMemory",
    "ShownEvent",
    "UnusableAnswer",
    "is_presentable",
    "prompt_of",
    "read_answer",
    "read_window",
]
