"""Notes in the spool: a forget finds them by their names, and one that is refused holds up no other."""

import pytest

from slowwave.spooled_notes import entry_of
from slowwave.working import Remember
from slowwave_server.services.forget.forgotten import Forgotten

OWN = entry_of("default", Remember(agent="atlas", content="Maya cycles.", session="monday"), "1")
OFFICE = entry_of("default", Remember(agent="atlas", content="Maya cycles.", scope="room:office"), "2")


@pytest.mark.parametrize(
    ("forgotten", "covered"),
    [
        (Forgotten("default", agent="atlas"), (True, True)),
        (Forgotten("default", agent="atlas", session="monday"), (True, False)),
        (Forgotten("default", scope="room:office"), (False, True)),
        (Forgotten("default", scope="agent:atlas"), (True, False)),
        (Forgotten("default", agent="jonas"), (False, False)),
        (Forgotten("other", agent="atlas"), (False, False)),
    ],
)
def test_i10_a_forget_finds_a_note_in_the_spool(forgotten: Forgotten, covered: tuple[bool, bool]) -> None:
    assert (forgotten.covers_entry(OWN), forgotten.covers_entry(OFFICE)) == covered
