"""The database and Python agree on local days, around every change of ten hard zones.

Up to 2020: for later years the two may carry different editions of the time zone database.
"""

from datetime import UTC, datetime

import pytest
from sqlalchemy import Engine, text

from slowwave_server.domain.local_days import local_day
from tests.support.zones import HARD_ZONES, changes

pytestmark = pytest.mark.servers

CUTOFFS = (0, 1, 2, 3, 4, 5, 23)
AWAY = (-86_400, -3600, -1, 0, 1, 59, 1800, 3599, 3600, 7200, 10_800, 82_800, 86_399, 86_400)
_DAYS = text(
    "SELECT slowwave.local_day(to_timestamp(u.at), u.zone, u.cutoff) FROM unnest("
    " CAST(:ats AS float8[]), CAST(:zones AS text[]), CAST(:cutoffs AS integer[]))"
    " WITH ORDINALITY AS u(at, zone, cutoff, n)"
    " ORDER BY u.n"
)


def test_mistake_35_the_database_and_python_name_the_same_day_around_every_change(engine: Engine) -> None:
    asked = [
        (float(turn + away), zone, cutoff)
        for zone in HARD_ZONES
        for turn in changes(zone)
        for away in AWAY
        for cutoff in CUTOFFS
    ]
    assert len(asked) > 50_000
    ats, zones, cutoffs = (list(column) for column in zip(*asked, strict=True))
    with engine.connect() as connection:
        said = connection.execute(_DAYS, {"ats": ats, "zones": zones, "cutoffs": cutoffs}).scalars().all()
    differ = [
        (question, day)
        for question, day in zip(asked, said, strict=True)
        if local_day(datetime.fromtimestamp(question[0], UTC), question[1], question[2]) != day
    ]
    assert differ == []
