"""Invent statements like those of agents from a few hundred templates, people, things and places; the same seed gives
the same statements. The frequencies of people and actions are as uneven as in real life: half of all statements are
about a few people.
"""

import random

_SYLLABLES = "an bel cor da el fen gra hol in jo ka lor mi no or pel qui ras sol ti ul ven wil xa yor zel".split()
_DOINGS = (
    "plays|practises|teaches|is learning|gave up|wants to learn|talks about|dreams of|is afraid of|writes about|"
    "collects|repairs|sells|buys|paints|photographs|restores|borrowed|lost|found|is looking for|is proud of|"
    "reads about|is tired of|is saving for|forgot about|takes care of|argued about|laughed about|asked about"
).split("|")
_KINDS = (
    "old|new|small|broken|red|blue|wooden|rare|cheap|heavy|handmade|vintage|electric|foldable|painted|rusty|silent|"
    "borrowed|striped|golden|Danish|Japanese|antique|waterproof"
).split("|")
_THINGS = (
    "cello|kayak|telescope|bicycle|camera|lantern|typewriter|carpet|teapot|compass|violin|tent|radio|globe|anchor|"
    "piano|sewing machine|map|clock|ladder|greenhouse|canoe|record player|chess set|harmonica|loom|kite|microscope|"
    "motorbike|bookshelf|aquarium|accordion|sled|wheelbarrow|kettle|drum|banjo|easel|hammock|barometer|printer|"
    "saxophone|stove|mirror|parachute|snowboard|trumpet|umbrella|wardrobe|scooter"
).split("|")
_TIMES = (
    "on Mondays|every winter|at weekends|before breakfast|after work|during the holidays|once a month|in spring|"
    "with the neighbours|for the school|with an uncle|in the evenings|since childhood|near the harbour|at the club|"
    "in the garage|for a living|without telling anyone|on the balcony|at the market"
).split("|")
_PLACES = (
    "Oslo|Bergen|Lisbon|Porto|Ghent|Turin|Graz|Leeds|Nantes|Malmo|Krakow|Basel|Bilbao|Cork|Dundee|Aarhus|Tartu|Split|"
    "Bologna|Utrecht|Tromso|Valencia|Salzburg|Antwerp"
).split("|")
_FIRMS = "Northwind|Contoso|Fabrikam|Tailspin|Litware|Proseware|Wingtip|Adatum|Lucerne|Trey|Humongous|Alpine".split("|")
_VALUES = (
    ("{name} lives in {place}", _PLACES),
    ("{name} works at {place}", _FIRMS),
    ("{name}'s favourite colour is {place}", "green|blue|red|violet|orange|white|black|grey".split("|")),
    ("{name} is allergic to {place}", "peanuts|pollen|cats|shrimp|penicillin|wasps|wool|eggs".split("|")),
    ("{name}'s sister is called {place}", ()),
    ("{name} is married to {place}", ()),
)
_VALUE_SHARE = 0.2
PEOPLE = 2000


class Life:
    """An endless source of statements about the same people."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        names: dict[str, None] = {"Maya": None, "Jonas": None, "Priya": None}
        while len(names) < PEOPLE:
            names["".join(self._random.choices(_SYLLABLES, k=3)).capitalize()] = None
        self._names = list(names)
        self._valued: set[tuple[str, str]] = set()
        total, self._weights = 0.0, []
        for place in range(1, PEOPLE + 1):
            total += 1 / place
            self._weights.append(total)

    def statement(self, *, changes: bool = True) -> str:
        """Return one statement, rarely a repetition.

        changes: True if it may change the value of an attribute (another home, another employer).
        """
        (name,) = self._random.choices(self._names, cum_weights=self._weights)
        one = self._random.choice
        if self._random.random() < _VALUE_SHARE:
            template, values = one(_VALUES)
            if changes or (name, template) not in self._valued:
                self._valued.add((name, template))
                return template.format(name=name, place=one(values or self._names))
        said = f"{name} {one(_DOINGS)} a {one(_KINDS)} {one(_THINGS)}"
        return f"{said} {one(_TIMES)}" if self._random.random() < 0.7 else said

    def variant(self, statement: str) -> str:
        """Return a repetition in similar words, or the contrary, as in a later conversation."""
        name, _, rest = statement.partition(" ")
        if self._random.random() < 0.5:
            return f"{name} really {rest}"
        kind, other = self._random.choice(_KINDS), self._random.choice(_TIMES)
        return f"{name} no longer {rest}" if self._random.random() < 0.3 else f"{statement} {kind} {other}"
