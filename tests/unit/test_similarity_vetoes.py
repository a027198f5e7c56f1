"""What the guard forbids to a model of meaning that is certain: a merge over another value, denial or role."""

import pytest

from slowwave_server.domain.similarity import Judgement, Meaning, judge, read

SAME = Meaning(0.95, 0.02, 0.01, 0.01, 0.01, duplicate_from=0.8, contradiction_from=0.7)
OPPOSED = Meaning(0.02, 0.93, 0.02, 0.02, 0.01, duplicate_from=0.8, contradiction_from=0.7)


def verdict(a: str, b: str, told: Meaning) -> Judgement:
    """Judged both ways round, which must agree."""
    forth, back = (judge(read(x), read(y), meaning=lambda _a, _b: told) for x, y in ((a, b), (b, a)))
    assert (forth.verdict, forth.reasons) == (back.verdict, back.reasons)
    return forth


MERGED = [
    ("antonym beside a denial", "The user has no job.", "The user is out of work."),
    ("absence", "Kenji can't make it to the kickoff.", "Kenji will be absent when the kickoff takes place."),
    ("forbidden", "Nobody may delete the legacy table.", "Dropping the legacy table is forbidden."),
    ("opposite adjective", "The museum can't be visited on Mondays.", "On Mondays the museum is closed."),
    ("prefix", "The invoice has not been settled.", "The invoice is still unpaid."),
    ("German", "Jonas isst kein Fleisch.", "Jonas verzichtet auf Fleisch."),
    ("Spanish", "Lucía ya no fuma.", "Lucía dejó de fumar."),
    ("French", "Les chiens ne sont pas admis ici.", "Les chiens sont interdits ici."),
    ("a limit", "Cabin bags may weigh no more than 8 kg.", "The weight limit for hand luggage is eight kilos."),
    ("free of", "Our stack is entirely free of log4j.", "log4j is not used anywhere in our stack."),
    ("turned down", "Lindiwe turned down the lead.", "Lindiwe says no to the lead."),
    ("a choice", "Keys go into the vault rather than into .env.", "Keys belong in the vault, not in .env."),
    ("a denial first", "Loki never bites but he barks.", "Loki barks but never bites."),
    ("roles from two sides", "Lucía chairs the safety meeting.", "The safety meeting has Lucía as its chairperson."),
    ("a passive idea", "Every service publishes its events to Kafka.", "Kafka is where services send their events."),
    ("relatives", "In 2019 the user lost her dad.", "The user's father passed away in 2019."),
    ("money", "Tickets for the jazz night cost 45 dollars.", "Anybody at the jazz night pays $45 for entry."),
    (
        "one deal from two sides",
        "Sand for the yard is bought from Mills & Sons.",
        "Mills & Sons sell us the sand that the yard needs.",
    ),
    ("a limit with a number", "Replies must not exceed four lines.", "Replies have four lines at most."),
    ("a limit in Spanish", "El ascensor no lleva más de 300 kg.", "La carga máxima del ascensor es de 300 kg."),
    (
        "no other",
        "The band wears white shirts on tour.",
        "On tour the band has white shirts; no other colour is allowed.",
    ),
    ("no exception", "Every push needs a review.", "A review precedes every push, without exception."),
    ("out of service", "Lift 2 can't be used now.", "Lift 2 is out of service at the moment."),
    ("no reply", "The lab has not answered yet.", "Silence from the lab so far."),
    ("a French opening", "Chaque membre peut inviter deux amis.", "Deux amis par membre : c'est le nombre d'invités."),
    ("a month", "Die Frist endet am 14. Mai.", "Frist: 14. Mai, dann ist Schluss."),
    ("a unit in capitals", "A mailbox holds 40 GB.", "max. size of a mailbox = 40 GB"),
    ("an acronym", "CPU quota of team Alder: 12 cores", "Team Alder may use twelve cores at a time."),
    (
        "a supplier",
        "Mills & Sons sell us the sand that the yard needs.",
        "supplier for sand in this yard: Mills and Sons",
    ),
    ("a noun for the verb", "Rafi naps two hours a day.", "Two hours is the nap that Rafi takes each day."),
    ("extra detail", "Dmitri was promoted to head of sales.", "Dmitri has been head of sales since 3 May."),
]


@pytest.mark.parametrize(("a", "b"), [case[1:] for case in MERGED], ids=[case[0] for case in MERGED])
def test_a_repetition_in_other_words_is_merged(a: str, b: str) -> None:
    assert verdict(a, b, SAME).verdict == "merge"


KEPT = [
    ("denial", "Kenji attends the kickoff with Maya.", "Kenji does not come to the kickoff of Maya's team."),
    ("a denied word that implies a denial", "Ana avoids nuts in her food.", "Ana doesn't avoid nuts at all."),
    ("German", "Jonas isst gern Fleisch.", "Jonas isst kein Fleisch."),
    ("Spanish", "Lucía come carne a diario.", "Lucía nunca come carne."),
    ("French", "Les chiens sont admis ici.", "Les chiens ne sont pas admis ici."),
    ("Italian", "Marco beve caffè la sera.", "Marco non beve mai caffè la sera."),
    ("Dutch", "Anneke eet vlees bij het ontbijt.", "Anneke eet geen vlees bij het ontbijt."),
    ("Chinese", "小王吃肉。", "小王不吃肉。"),
    ("Japanese", "佐藤さんは肉を食べる。", "佐藤さんは肉を食べない。"),
    ("number", "The retro in room Baltic lasts an hour.", "The retro in room Baltic is set for 90 minutes."),
    ("name", "The wedding is in the library of Porto.", "The wedding takes place in the library of Braga."),
    ("identifier", "The report store is on host rs-03.", "The report store now lives on rs-11."),
    ("opposite verbs", "The library gained Windows support in 0.8.", "In 0.8 the library ceased its Windows support."),
    ("opposites", "Stones fall less often on the west ridge.", "Stones come down more often on the west ridge."),
    ("exchanged denials", "Loki barks at the postman but never bites.", "Loki bites the postman but never barks."),
    ("exchanged reasons", "Rocky must not get ham as it harms him.", "Rocky should get ham as it does not harm him."),
    (
        "exchanged choices",
        "Bao gets alerts on his watch rather than his phone.",
        "Bao gets alerts on his phone, not his watch.",
    ),
    (
        "exchanged order",
        "The cable was laid before they poured the floor.",
        "They poured the floor before the cable was laid.",
    ),
    ("a choice", "Coffee rather than tea is what Ana takes.", "Between tea and coffee, Ana takes tea."),
    ("called off", "Flight LH 441 on 6 May was cancelled.", "On 6 May, LH 441 took off and landed on time."),
    ("swapped roles", "Maya manages Jonas.", "Jonas manages Maya."),
    ("swapped roles with a detail", "Maya manages Jonas in Oslo.", "Jonas manages Maya in Bergen."),
    ("relatives", "Maya speaks French.", "Maya's sister speaks French."),
    ("relatives with of", "Maya speaks French.", "A sister of Maya speaks French."),
    ("one side of two deals", "Maya sold the flat in Porto.", "Maya bought the flat in Porto."),
    (
        "a denial beside a number",
        "Kai speaks over the phone to 4 clients.",
        "Kai never talks over the phone to 4 clients.",
    ),
    ("another acronym", "NASA launches the probe in May.", "ESA launches the probe in May."),
    ("Italian never", "Marco beve il vino rosso a cena.", "Marco non ha mai vino rosso a cena."),
]


@pytest.mark.parametrize(("a", "b"), [case[1:] for case in KEPT], ids=[case[0] for case in KEPT])
def test_i6_a_certain_model_merges_nothing_that_differs(a: str, b: str) -> None:
    assert verdict(a, b, SAME).verdict not in {"duplicate", "merge"}


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("There is an index on orders.created_at.", "orders.created_at is not indexed."),
        ("Hoang watches the news on the TV in his bedroom.", "There is no TV in Hoang's bedroom."),
        ("Oskar is the user's eldest child.", "The user's firstborn is Hana; Oskar came three years after her."),
        ("We're exposed to CVE-2024-31001.", "CVE-2024-31001 in libyara does not affect us."),
        ("Na primavera instalaram um elevador no prédio da Rita.", "O prédio da Rita não tem elevador."),
        ("Salma leads the design team, which has nine people.", "The design team that Salma leads has six people."),
    ],
)
def test_two_sides_of_one_matter_may_contradict(a: str, b: str) -> None:
    assert verdict(a, b, OPPOSED).verdict == "conflict"


def test_the_same_words_contradict_nothing() -> None:
    assert verdict("Maya is learning the cello.", "Maya is now learning the cello.", OPPOSED).verdict == "duplicate"


@pytest.mark.parametrize(
    ("more", "contradicts"),
    [
        ("Maya likes green tea in the morning with honey.", False),
        ("Maya likes green tea only in the morning.", True),
        ("Maya formerly likes green tea in the morning.", True),
        ("Maya likes green tea at 9 in the morning.", True),
    ],
)
def test_an_added_detail_contradicts_nothing(more: str, contradicts: bool) -> None:
    judged = verdict("Maya likes green tea in the morning.", more, OPPOSED)
    assert (judged.verdict == "conflict") == contradicts


def test_one_measure_in_two_units_is_no_contradiction() -> None:
    assert judge(read("The user weighs 80 kg."), read("The user's weight is about 176 pounds.")).verdict != "conflict"
    assert judge(read("The user weighs 80 kg."), read("The user's weight is 95 kg.")).verdict == "conflict"
