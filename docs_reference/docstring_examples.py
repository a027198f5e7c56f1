"""An extension of griffe that reads a docstring's `Example:` as `Examples:`, so that the site shows it as code."""

import re
from typing import Any

from griffe import Extension, Object

_EXAMPLE = re.compile(r"^(\s*)Example:$", re.MULTILINE)


class DocstringExamples(Extension):
    """Rename the section in every docstring that griffe has read."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Rename it in the docstring of a module, class, function or attribute."""
        if obj.docstring is not None:
            obj.docstring.value = _EXAMPLE.sub(r"\1Examples:", obj.docstring.value)
