"""The phrases that equate two names, by language, as data."""

from typing import Literal

Kind = Literal["alias", "short", "former", "renamed"]
"""The names to the left and right of a phrase:

    alias    a name, and another name of the same thing
    short    a short form, and its long form; accepted only if the letters agree
    former   a name, and its former name
    renamed  the former name, and the new name
"""

PHRASES: tuple[tuple[Kind, tuple[str, ...]], ...] = (
    (
        "alias",
        (
            " also known as ", " better known as ", " commonly known as ", ", known as ", " aka ", " a.k.a. ",
            " a/k/a ",
            ", alias ", ", nicknamed ", " is nicknamed ", " goes by ", ", who goes by ", " goes by the name of ",
            ", whom everyone calls ", ", who everyone calls ", ", also called ", " is also called ", ", or simply ",
            " auch bekannt als ", " auch genannt ", ", genannt ", ", kurz ", " besser bekannt als ",
            " alias ", " aussi appelé ", " aussi appelée ", ", dit ", ", dite ", ", surnommé ", ", surnommée ",
            " connu sous le nom de ", " connue sous le nom de ", " también conocido como ", " también conocida como ",
            " conocido como ", " conocida como ", ", apodado ", ", apodada ", " también llamado ", " también llamada ",
            " noto come ", " nota come ", " conosciuto come ", " conosciuta come ", ", detto ", ", detta ",
            ", soprannominato ", ", soprannominata ", " também conhecido como ", " também conhecida como ",
            " conhecido como ", " conhecida como ", ", apelidado de ", ", apelidada de ", " ook bekend als ",
            " beter bekend als ", ", oftewel ", ", ook wel ", ", bijgenaamd ", ", также известный как ",
            ", также известная как ", ", он же ", ", она же ", "又名", "又称", "也叫", "别名", "，简称", "の別名は",
        ),
    ),
    (
        "short",
        (
            " is short for ", ", short for ", " stands for ", " is an abbreviation of ", " is an abbreviation for ",
            " is the abbreviation of ", " is the abbreviation for ", " is the acronym for ", " is an acronym for ",
            " is shorthand for ", " is our shorthand for ", " steht für ", " ist kurz für ", " ist die abkürzung für ",
            " ist die abkürzung von ", " ist die kurzform von ", " est l'abréviation de ", " est le diminutif de ",
            " est l'acronyme de ", " es la abreviatura de ", " es el acrónimo de ", " son las siglas de ",
            " es el diminutivo de ", " è l'abbreviazione di ", " sta per ", " è il diminutivo di ", " è l'acronimo di ",
            " é a abreviação de ", " é a sigla de ", " é o diminutivo de ", " staat voor ", " is de afkorting van ",
            " is de afkorting voor ", " is een afkorting van ", " — это сокращение от ", " расшифровывается как ",
            "是", "は",
        ),
    ),
    (
        "former",
        (
            ", formerly known as ", ", formerly called ", ", previously known as ", ", previously called ",
            " used to be called ", " used to be known as ", ", formerly ", ", ehemals ", ", vormals ",
            ", früher bekannt als ",
            " hieß früher ", ", anciennement ", " s'appelait avant ", ", antes llamado ", ", antes llamada ",
            ", antes conocido como ", ", antes conocida como ", " antes se llamaba ", ", precedentemente noto come ",
            " prima si chiamava ", ", anteriormente conhecido como ", ", antigo ", ", antiga ", " antes se chamava ",
            ", voorheen ", ", vroeger bekend als ", " heette vroeger ", "原名", "旧称",
        ),
    ),
    (
        "renamed",
        (
            " was renamed to ", " was renamed ", " has been renamed to ", " got renamed to ", " is now called ",
            " is now known as ", " has been rebranded as ", " was rebranded as ", " heißt jetzt ", " heißt nun ",
            " s'appelle maintenant ", " s'appelle désormais ", " a été renommé en ", " a été renommé ",
            " a été renommée ", " ahora se llama ", " pasó a llamarse ", " ora si chiama ", " adesso si chiama ",
            " è stato rinominato ", " è stata rinominata ", " agora se chama ", " passou a se chamar ", " heet nu ",
            " heet tegenwoordig ", " теперь называется ", " переименован в ", "改名为", "更名为", "に改名",
        ),
    ),
)  # fmt: skip

INSIDE: tuple[tuple[Kind, tuple[str, ...]], ...] = (
    (
        "alias",
        (
            "also known as ", "known as ", "aka ", "a.k.a. ", "alias ", "short: ", "in short: ", "short ", "for short ",
            "abbreviated ", "abbr. ", "abbreviated as ", "nickname: ", "nicknamed ", "also called ", "called ",
            "also: ", "or simply ", "kurz: ", "kurz ", "abgekürzt ", "abgekürzt: ", "abk. ", "auch bekannt als ",
            "genannt ", "auch: ", "spitzname ", "abrégé ", "en abrégé ", "dit ", "dite ", "aussi appelé ",
            "aussi appelée ", "surnommé ", "surnommée ", "también conocido como ", "también conocida como ",
            "abreviado ", "conocido como ", "conocida como ", "apodado ", "apodada ", "in breve ", "abbreviato ",
            "detto ", "detta ", "noto come ", "nota come ", "abreviado como ", "também conhecido como ",
            "também conhecida como ", "conhecido como ", "conhecida como ", "afgekort ", "ook bekend als ", "oftewel ",
            "сокращённо ", "сокращенно ", "он же ", "она же ", "简称", "以下简称", "又名", "又称", "也叫", "别名",
            "略称", "通称", "略して", "以下、", "약칭 ", "일명 ",
        ),
    ),
    ("short", ("short for ", "stands for ", "kurz für ", "steht für ", "abkürzung für ", "staat voor ", "sta per ")),
    (
        "former",
        (
            "formerly ", "formerly known as ", "formerly called ", "previously ", "previously known as ",
            "previously called ", "ex-", "früher ", "ehemals ", "vormals ", "anciennement ", "ex ", "antes ",
            "antes llamado ", "antes llamada ", "già ", "prima ", "ex-", "antigo ", "antiga ", "anteriormente ",
            "voorheen ", "vroeger ", "ранее ", "бывший ", "бывшая ", "原名", "旧称", "旧",
        ),
    ),
    ("renamed", ("now ", "now called ", "now known as ", "jetzt ", "nun ", "désormais ", "ahora ", "ora ",
    "agora ", "nu ")),
)  # fmt: skip
"""The same kinds within parentheses, where a phrase opens the parentheses."""

CALL_ME = (
    "call me ", "calls me ", "i go by ", "nenn mich ", "nennt mich ", "nennen mich ", "nennen mich alle ",
    "appelle-moi ", "appelez-moi ", "m'appellent ", "llámame ", "llamame ", "llámenme ", "me dicen ", "chiamami ",
    "mi chiamano ", "me chama de ", "me chame de ", "me chamar de ", "me chamam de ", "noem me ", "noem mij ",
    "noemen me ", "зови меня ", "зовите меня ", "叫我",
)  # fmt: skip
CALLED_BEHIND = ("と呼んで", "라고 불러")
"""Phrases after the name that the speaker wants."""

MY_NAME_IS = (
    "my name is ", "my name's ", "my full name is ", "i am ", "i'm ", "mein name ist ", "ich heiße ", "ich bin ",
    "je m'appelle ", "mon nom est ", "je suis ", "me llamo ", "mi nombre es ", "soy ", "mi chiamo ", "il mio nome è ",
    "sono ", "me chamo ", "meu nome é ", "eu sou ", "sou ", "ik heet ", "mijn naam is ", "ik ben ", "меня зовут ",
    "我叫", "我的名字是", "私の名前は", "제 이름은 ",
)  # fmt: skip

NEGATED = ("don't", "do not", "dont", "never", "not ", "n't", "nicht", "kein", "ne m", "jamais", "no me", "nunca",
"non ",
           "mai ", "não", "niet", "nooit", "не ", "别", "不要", "stop ")  # fmt: skip
"""Negations directly before "call me"."""

GO_ON = frozenset(
    "and or but please instead everyone everybody für for from since as when und oder aber bitte et ou mais s'il y o"
    " pero por e ma per ou mas por en of maar alstublieft и но".split()
)
"""Words that may follow a wanted name without punctuation."""
