"""A hundred statements that an agent might note, none of which says what another one does."""

PEOPLE = ("Maya", "Jonas", "Priya", "Ines", "Tomas", "Amara", "Kenji", "Lucia", "Omar", "Freya")
DONE = (
    "works at the harbour office in Porto",
    "planted three apple trees behind the greenhouse",
    "prefers tea without sugar in the morning",
    "is learning to play the cello",
    "bought a second-hand cargo bike on Saturday",
    "has a dentist's appointment on Thursday at nine",
    "translates novels from Danish",
    "repaired the boiler with a part from a scrapyard",
    "wants the quarterly report as a spreadsheet",
    "met an old school friend on the night train",
)
STATEMENTS = [f"{person} {done}." for done in DONE for person in PEOPLE]
