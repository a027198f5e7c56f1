"""What statements give to the profile of their speaker, in five languages; and what gives nothing."""

import json
from importlib.resources import files

from slowwave.recall.instructions import SEVERAL, SINGLE
from slowwave_server.domain.profile import profile_of
from tests.support.tables import for_each

ENGLISH = {
    "The user's name is Maya Chen.": ["name: Maya Chen"],
    "The user is called Maya.": ["name: Maya"],
    "The user goes by Mo.": ["name: Mo"],
    "The user lives in Porto.": ["home: Porto"],
    "The user now lives in San Francisco with two cats.": ["home: San Francisco"],
    "The user is based in Berlin.": ["home: Berlin"],
    "The user moved to Bergen last month (2025-02).": ["home: Bergen"],
    'The user corrected: "I just moved from Porto to Lisbon".': ["home: Lisbon"],
    "The user has lived in Rio de Janeiro since 2019.": ["home: Rio de Janeiro"],
    "The user works at Siemens.": ["employer: Siemens"],
    "The user works for Doctors Without Borders.": ["employer: Doctors Without Borders"],
    "The user started at Google in May.": ["employer: Google"],
    "The user's company is called Acme.": ["employer: Acme"],
    "The user is a software engineer at Spotify.": ["employer: Spotify", "role: software engineer"],
    "The user is a nurse.": ["role: nurse"],
    "The user works as a teacher.": ["role: teacher"],
    "The user is vegan.": ["diet: vegan"],
    "The user is a vegetarian.": ["diet: vegetarian"],
    "The user doesn't eat pork.": ["avoids: pork"],
    "The user is allergic to peanuts.": ["allergies: peanuts"],
    "The user is lactose intolerant.": ["allergies: lactose"],
    "The user speaks German and Portuguese.": ["languages: German and Portuguese"],
    "The user's native language is Catalan.": ["languages: Catalan"],
    "The user's time zone is CET.": ["time zone: CET"],
    "The user is in the Pacific time zone.": ["time zone: Pacific"],
    "The user's pronouns are they/them.": ["pronouns: they/them"],
    "The user's birthday is May 3 (2025-05-03).": ["birthday: May 3"],
    "The user is married to Tom.": ["partner: Tom"],
    "The user's wife's name is Ana.": ["partner: Ana"],
    "The user has two kids.": ["children: two"],
    "The user has a dog named Rex.": ["pets: Rex (dog)"],
    "The user uses Neovim as their editor.": ["tools: Neovim"],
    "The user is from Chile.": ["from: Chile"],
    "The user prefers dark mode.": ["likes: dark mode"],
    "The user loves hiking.": ["likes: hiking"],
    "The user is no longer vegan.": ["diet: vegan, ended"],
    "The user no longer works at Siemens.": ["employer: Siemens, ended"],
    "The user doesn't work at Siemens any more.": ["employer: Siemens, ended"],
    "The user quits their job at Siemens.": ["employer: Siemens, ended"],
    "The user doesn't live in Porto anymore.": ["home: Porto, ended"],
}
QUOTED = {
    "de": {
        "Ich heiße Maya Keller.": ["name: Maya Keller"],
        "Ich wohne in Bergen.": ["home: Bergen"],
        "Ich lebe seit 2019 in Wien.": ["home: Wien"],
        "Ich bin nach Hamburg gezogen.": ["home: Hamburg"],
        "Ich arbeite bei Siemens.": ["employer: Siemens"],
        "Ich bin Krankenschwester.": ["role: Krankenschwester"],
        "Ich bin Veganerin.": ["diet: Veganerin"],
        "Ich bin gegen Erdnüsse allergisch.": ["allergies: Erdnüsse"],
        "Ich spreche Deutsch und Polnisch.": ["languages: Deutsch und Polnisch"],
        "Ich bin keine Veganerin mehr.": ["diet: Veganerin, ended"],
    },
    "fr": {
        "Je m'appelle Maya Dubois.": ["name: Maya Dubois"],
        "J'habite à Lyon.": ["home: Lyon"],
        "J'ai déménagé à Nantes.": ["home: Nantes"],
        "Je travaille chez Airbus.": ["employer: Airbus"],
        "Je suis infirmière.": ["role: infirmière"],
        "Je travaille comme professeur.": ["role: professeur"],
        "Je suis végétarienne.": ["diet: végétarienne"],
        "Je suis allergique aux arachides.": ["allergies: arachides"],
        "Je parle français et arabe.": ["languages: français et arabe"],
        "Je ne suis plus végétarienne.": ["diet: végétarienne, ended"],
    },
    "es": {
        "Me llamo Maya Robles.": ["name: Maya Robles"],
        "Vivo en Sevilla.": ["home: Sevilla"],
        "Me mudé a Valencia.": ["home: Valencia"],
        "Trabajo para Telefónica.": ["employer: Telefónica"],
        "Soy enfermera.": ["role: enfermera"],
        "Trabajo como profesora.": ["role: profesora"],
        "Soy vegetariana.": ["diet: vegetariana"],
        "Soy alérgica a los cacahuetes.": ["allergies: cacahuetes"],
        "Hablo español y catalán.": ["languages: español y catalán"],
        "Ya no soy vegetariana.": ["diet: vegetariana, ended"],
    },
    "zh": {
        "我叫王小美。": ["name: 王小美"],
        "我住在上海。": ["home: 上海"],
        "我搬到了深圳。": ["home: 深圳"],
        "我在华为工作。": ["employer: 华为"],
        "我是护士。": ["role: 护士"],
        "我对花生过敏。": ["allergies: 花生"],
    },
}
NOTHING = (
    "Is it good to live in Porto?",
    "The user would like to live in Japan.",
    "The user is moving to Madrid next year (2026).",
    "The user used to live in Rome.",
    "The user might work at Apple one day.",
    "The user lives in fear of deadlines.",
    "The user works at night.",
    "The user works at home on Fridays.",
    "The user is a bit tired.",
    "The user is a big fan of jazz.",
    "The user moved to GitLab last week.",
    "The user and others moved to Postgres.",
    "The user's sister lives in Oslo.",
    "The user's brother works at Google.",
    "The user's friend Maya is a nurse.",
    "The user hopes they live in Rome.",
    'The user: "Meine Schwester wohnt in Oslo."',
    'The user: "Ich würde gern in Rom wohnen."',
    'The user: "Ich habe früher in Köln gewohnt."',
    'The user: "Ich arbeite bei Nacht."',
    'The user: "Ich bin Single."',
    'The user: "Ma sœur habite à Oslo."',
    'The user: "J\'aimerais vivre à Rome."',
    'The user: "Avant, j\'habitais à Lille."',
    'The user: "Mi hermana vive en Oslo."',
    'The user: "Me gustaría vivir en Roma."',
    'The user: "我姐姐住在北京。"',
    'The user: "我想住在北京。"',
)


def told(content: str, kind: str = "fact") -> list[str]:
    return [
        f"{trait.attribute}: {trait.value}{', ended' if trait.ended else ''}" for trait in profile_of(content, kind)
    ]


@for_each("content", ENGLISH)
def test_statement_gives_its_attributes(content: str) -> None:
    assert told(content, "decision" if "corrected" in content else "fact") == ENGLISH[content]


@for_each(("said", "given"), [pair for told_in in QUOTED.values() for pair in told_in.items()])
def test_statement_in_another_language_gives_its_attributes(said: str, given: list[str]) -> None:
    assert told(f'Maya: "{said}"') == given
    assert {trait.person for trait in profile_of(f'Maya: "{said}"')} == {"maya"}


@for_each("content", NOTHING)
def test_wish_past_and_other_people_give_nothing(content: str) -> None:
    assert told(content) == []


def test_attribute_belongs_to_the_subject_of_its_statement() -> None:
    assert [trait.person for trait in profile_of("Tom lives in Berlin.")] == ["tom"]
    assert [trait.person for trait in profile_of("Maya Chen's dog is called Rex.")] == ["maya chen"]


def test_type_of_a_statement_bounds_what_it_gives() -> None:
    assert told("The user instructs: call me Bob.", "instruction") == ["name: Bob"]
    assert told("The user works at Siemens.", "task") == []
    assert told("The user works at Siemens.", "lesson") == []


def test_context_shows_each_attribute_that_a_pattern_gives() -> None:
    data = json.loads((files("slowwave_server.domain.profile") / "patterns.json").read_text("utf-8"))
    given = {name for part in data.values() if "patterns" in part for name in part["patterns"]}
    assert given == {*SINGLE, *SEVERAL}
