"""Which aliases are learned from what people write, and which spellings teach none."""

from datetime import UTC, datetime

import pytest

from slowwave_server.domain.aliases import Alias, key_of, learn
from slowwave_server.domain.events import Event, EventKind
from tests.support.tables import for_each

NOON = datetime(2025, 3, 3, 12, tzinfo=UTC)


def said(text: str, kind: EventKind = "user", name: str | None = None, seq: int = 1) -> Event:
    return Event(seq, kind, kind, text, NOON, name)


def taught(text: str, name: str | None = None) -> set[tuple[str, str]]:
    return {(one.name, one.alias) for one in learn([said(text, name=name)])}


TAUGHT = [
    # initials
    ("We run everything on Amazon Web Services (AWS) now.", "Amazon Web Services", "AWS"),
    ("Move the builds to GitHub Actions (GHA).", "GitHub Actions", "GHA"),
    ("GHA, GitHub Actions, is where our builds run.", "GitHub Actions", "GHA"),
    ("Glossary:\n- GHA: GitHub Actions\n- other things", "GitHub Actions", "GHA"),
    ("**SRE** — Site Reliability Engineering", "Site Reliability Engineering", "SRE"),
    ("Send the invoice to GitHub Actions, or GHA, by Friday.", "GitHub Actions", "GHA"),
    ("I opened a pull request (PR) for that.", "pull request", "PR"),
    ("The SLA (service level agreement) says four hours.", "service level agreement", "SLA"),
    ("The North Atlantic Treaty Organization (N.A.T.O.) met.", "North Atlantic Treaty Organization", "N.A.T.O."),
    ("He moved to the U.S. (United States) in 2010.", "United States", "U.S."),
    ("Das Bundesministerium für Bildung und Forschung (BMBF).", "Bundesministerium für Bildung und Forschung", "BMBF"),
    ("Die Deutsche Bahn (DB) streikt wieder.", "Deutsche Bahn", "DB"),
    ("L'Organisation des Nations Unies (ONU) a voté.", "Organisation des Nations Unies", "ONU"),
    ("La Unión Europea (UE) lo aprobó.", "Unión Europea", "UE"),
    ("Il Consiglio Nazionale delle Ricerche (CNR) ha risposto.", "Consiglio Nazionale delle Ricerche", "CNR"),
    ("O Banco Central do Brasil (BCB) subiu os juros.", "Banco Central do Brasil", "BCB"),
    ("De Nederlandse Spoorwegen (NS) rijden niet.", "Nederlandse Spoorwegen", "NS"),
    ("Our frontend uses JavaScript (JS) only.", "JavaScript", "JS"),
    ("We deploy virtual machines (VMs) by hand.", "virtual machines", "VMs"),
    # numeronyms and cut words
    ("The cluster is Kubernetes (k8s), version 1.31.", "Kubernetes", "k8s"),
    ("We postponed internationalization (i18n) again.", "internationalization", "i18n"),
    ("k8s (Kubernetes) is down.", "Kubernetes", "k8s"),
    ("Open the administration (admin) panel.", "administration", "admin"),
    ("Maximilian (Max) is on leave.", "Maximilian", "Max"),
    # phrases
    ("k8s is short for Kubernetes.", "Kubernetes", "k8s"),
    ("PR is short for pull request.", "pull request", "PR"),
    ("Liz is short for Elizabeth.", "Elizabeth", "Liz"),
    ("For us GHA stands for GitHub Actions.", "GitHub Actions", "GHA"),
    ("Robert Miller, known as Bob, leads the team.", "Robert Miller", "Bob"),
    ("Robert Miller, also known as Bob, leads the team.", "Robert Miller", "Bob"),
    ("Robert Miller goes by Bob.", "Robert Miller", "Bob"),
    ("Robert Miller aka Bobby leads it.", "Robert Miller", "Bobby"),
    ('Robert "Bob" Miller signed the contract.', "Robert Miller", "Bob"),
    ("The main database (aka Goliath) is full.", None, None),
    ("Our billing service Hermes, nicknamed Snail, is slow.", "Hermes", "Snail"),
    ("Robert Miller (Bob) is back.", "Robert Miller", "Bob"),
    ("Ask Liz (Elizabeth Warren) about that.", "Elizabeth Warren", "Liz"),
    ('The staging cluster Bluebird, also called "BB8", is down.', "Bluebird", "BB8"),
    ("Elastic Kubernetes Service (or EKS for short) is dear.", "Elastic Kubernetes Service", "EKS"),
    ("PostgreSQL (short: Pg) is our store.", "PostgreSQL", "Pg"),
    # renamed
    ("Falcon was renamed to Osprey last week.", "Osprey", "Falcon"),
    ("Project Falcon is now called Osprey.", "Osprey", "Falcon"),
    ("Osprey (formerly Falcon) ships in May.", "Osprey", "Falcon"),
    ("Osprey, formerly known as Falcon, ships in May.", "Osprey", "Falcon"),
    ("Meta, previously called Facebook, hired her.", "Meta", "Facebook"),
    ("Twitter (now X Corp) cut the API.", "X Corp", "Twitter"),
    ("Das Projekt Adler heißt jetzt Milan.", "Milan", "Adler"),
    ("Milan (früher Adler) läuft.", "Milan", "Adler"),
    ("Le projet Faucon s'appelle désormais Balbuzard.", "Balbuzard", "Faucon"),
    ("Balbuzard, anciennement Faucon, avance.", "Balbuzard", "Faucon"),
    ("Halcón ahora se llama Quetzal.", "Quetzal", "Halcón"),
    ("Quetzal (antes Halcón) sale en mayo.", "Quetzal", "Halcón"),
    ("Falco ora si chiama Nibbio.", "Nibbio", "Falco"),
    ("Falcão agora se chama Gavião.", "Gavião", "Falcão"),
    ("Valk heet nu Havik.", "Havik", "Valk"),
    # phrases in other languages
    ("Robert Müller, genannt Bobby, leitet das.", "Robert Müller", "Bobby"),
    ("GHA steht für GitHub Actions.", "GitHub Actions", "GHA"),
    ("Atlas (kurz: ATL) ist bereit.", "Atlas", "ATL"),
    ("Jean Dupont, surnommé Jeannot, arrive.", "Jean Dupont", "Jeannot"),
    ("Francisco Pérez, también conocido como Paco, llega.", "Francisco Pérez", "Paco"),
    ("Giuseppe Rossi, detto Beppe, arriva.", "Giuseppe Rossi", "Beppe"),
    ("José Silva, também conhecido como Zeca, chega.", "José Silva", "Zeca"),
    ("Johannes de Vries, bijgenaamd Joop, komt.", "Johannes de Vries", "Joop"),
    # scripts
    ("Она живёт в Москва (Moscow).", "Москва", "Moscow"),
    ("トヨタ (Toyota) の車を買った。", "トヨタ", "Toyota"),
    ("Kubernetes (クバネティス) を使う。", "Kubernetes", "クバネティス"),
    ("서울 (Seoul) 에 살아요.", "서울", "Seoul"),
    ("Αθήνα (Athens) είναι ζεστή.", "Αθήνα", "Athens"),
    ("他在北京大学（简称北大）读书。", "北京大学", "北大"),
    ("国際連合（国連）が発表した。", "国際連合", "国連"),
    ("东京大学（东大）很有名。", "东京大学", "东大"),
]  # fmt: skip


@for_each(("text", "name", "alias"), [case for case in TAUGHT if case[1]])
def test_alias_is_learned(text: str, name: str, alias: str) -> None:
    assert taught(text) == {(name, alias)}


CALLED = [
    ("Please call me Bob.", "Robert Miller", {("Robert Miller", "Bob")}),
    ("You can call me Bob, everybody does.", "Robert Miller", {("Robert Miller", "Bob")}),
    ("My friends call me Bobby and so should you.", "Robert Miller", {("Robert Miller", "Bobby")}),
    ("I go by Bob.", "Robert Miller", {("Robert Miller", "Bob")}),
    ("My name is Robert Miller, but call me Bob.", "user", {("Robert Miller", "Bob")}),
    ("I'm Robert, but everyone calls me Bob.", None, {("Robert", "Bob")}),
    ("Nenn mich bitte nicht Herr Müller, nenn mich Bobby.", "Robert Müller", {("Robert Müller", "Bobby")}),
    ("Ich heiße Friedrich, nennt mich Fritz.", None, {("Friedrich", "Fritz")}),
    ("Appelle-moi Manu.", "Emmanuel Petit", {("Emmanuel Petit", "Manu")}),
    ("Llámame Paco.", "Francisco Pérez", {("Francisco Pérez", "Paco")}),
    ("Me llamo Francisco, pero llámame Paco.", None, {("Francisco", "Paco")}),
    ("Chiamami Beppe.", "Giuseppe Rossi", {("Giuseppe Rossi", "Beppe")}),
    ("Pode me chamar de Zeca.", "José Silva", {("José Silva", "Zeca")}),
    ("Noem me maar niet Johannes. Noem me Joop.", "Johannes de Vries", {("Johannes de Vries", "Joop")}),
    ("叫我小明就行。", "王明", {("王明", "小明")}),
    ("Зовите меня Саша.", "Александр", {("Александр", "Саша")}),
]


@pytest.mark.parametrize(("text", "speaker", "pairs"), CALLED)
def test_speaker_says_how_to_be_called(text: str, speaker: str | None, pairs: set[tuple[str, str]]) -> None:
    assert taught(text, speaker) == pairs


UNTAUGHT = """
Let's move the meeting (on Monday) to the small room.
She was born in Paris (France).
She moved to Paris (Texas).
We support Python (3.11) and newer.
Python (3.11) is required.
See you in Berlin (Germany).
Call me tomorrow.
Call me Monday.
Call me Monday morning, please.
Call me when you are done.
Call me maybe.
Call me crazy, but I like it.
Don't call me Bob.
Please never call me Bobby.
Call me ASAP.
Call me back.
Call me at 5.
Call me old-fashioned, but I print my mails.
The budget (EUR 4,000) is approved.
The release (v2.3.1) is out.
The release (2024-05-10) went well.
He arrived (late) and left (early).
We met Anna (and her dog) in the park.
We met Anna (Berlin) and Tom (Paris).
We met Anna (Sales) and Tom (Marketing).
Anna Schmidt (Acme) called.
Robert Miller (CEO) signed.
Robert Miller (Acme Corp) signed.
Robert Miller (he/him) signed.
Robert Miller (42) signed.
Robert Miller (Tuesday) and Liz Smith (Friday) are on call.
We need milk, eggs, bread and cheese.
We use AWS, GCP and Azure.
Speakers: Anna, Bob, Charlie.
Paris, London, New York.
The offices are in Paris, France and Berlin, Germany.
USA, Canada and Mexico signed.
Send it to HR, Legal and Finance.
IBM, Oracle and Google bid.
NASA, the best agency of all, says so.
Anna, Tom (my brother) and I went.
My brother (Tom) and I went.
The API (which is slow) timed out.
The API (REST) timed out.
The API (see docs) timed out.
The database (PostgreSQL) is full.
The store (Redis) is full.
We chose React (not Vue).
We chose React (or Vue).
I prefer tea (green).
I like jazz (Miles Davis, for example).
I read Dune (Frank Herbert).
Inception (2010) is a good film.
Inception (Christopher Nolan) is a good film.
Mercury (the planet) is hot.
Tickets cost $20 (cash only).
The fee is 5% (VAT included).
The meeting (TBD) is long.
Done (FYI).
Deploy it (ASAP).
We ship on Friday (EOD).
I think so (IMO).
The test passed (OK).
Is GHA short for GitHub Actions?
What does GHA stand for?
Was Falcon renamed to Osprey?
Should we rename Falcon to Osprey?
We could rename it to Osprey.
I renamed the file to notes.txt.
I renamed foo.py to bar.py.
The variable was renamed to user_id.
The column was renamed to created_at.
The folder /srv/old was renamed to /srv/new.
Life is short for Many of us.
Summer is short for Swedes.
He stands for Freedom.
Apple stands for Quality.
The M stands for Mega.
She is known as a great cook.
He is known for his patience.
The town is known as the city of light.
This was formerly a church.
Formerly we used Jenkins.
He formerly worked at Google.
She previously lived in Rome.
We are now called every day.
The line is now known to be slow.
The store is now in Berlin.
It is now called twice.
He goes by train.
She goes by the book.
He goes by bus to Berlin.
Robert, Bob and Liz came.
Tom said "Hello" Anna.
I love "Dune" by Herbert.
print(foo) calls bar(baz).
f(x) = y and g(X) = Y
if (a and b) then (c)
Use the function sum(values) here.
Step 1 (Setup): install it.
Option A (Recommended) is cheap.
Team A (Blue) beat Team B (Red).
Chapter 3 (Methods) is weak.
Question 4 (b) is hard.
Take I-95 (North) to Boston.
Meet at 10 (CET).
Meet at 10:00 (Berlin time).
The train (ICE 123) is late.
Bayern (2:1) won.
Wir treffen uns (am Montag) im Büro.
Wir waren in Wien (Österreich).
Ich war in Berlin, früher Paris.
Ruf mich morgen an.
Nenn mich nicht Bobby.
Nenn mir drei Gründe.
Das Treffen (im Mai) fällt aus.
Anna (aus Köln) kommt.
Er wohnt in Köln (Nordrhein-Westfalen).
Nous étions à Lyon (France).
Appelle-moi demain.
Appelle-moi lundi.
La réunion (mardi) est annulée.
Estuvimos en Lima (Perú).
Llámame mañana.
Llámame el lunes.
La reunión (martes) se cancela.
Chiamami domani.
Siamo stati a Roma (Italia).
Me chama amanhã.
Estivemos em Lisboa (Portugal).
Bel me morgen.
We waren in Gent (België).
我们去了东京（日本）。
会议（周一）取消了。
東京（日本）に行きました。
会議（月曜日）は中止です。
Он живёт в Казань (Россия).
Мы были в Рим (Италия).
東京 (Japan) に住んでいます。
北京 (China) 很大。
Москва (Russia) большая.
The password is hunter2 (also known as s3cr3tPassw0rd).
```
# Kubernetes (k8s)
```
Anna (whom I met at NeurIPS) is kind.
See the docs (Section IV).
The car (BMW) is red.
My car (Toyota) is red.
""".strip().split("\n")


def _texts() -> list[str]:
    joined = "\n".join(UNTAUGHT).replace("```\n# Kubernetes (k8s)\n```", "```¶# Kubernetes (k8s)¶```")
    return [line.replace("¶", "\n") for line in joined.split("\n")]


@for_each("text", _texts())
def test_other_spellings_teach_nothing(text: str) -> None:
    assert taught(text, "Robert Miller") == set()


def test_there_are_enough_spellings() -> None:
    assert len(TAUGHT) + len(CALLED) >= 60
    assert len(_texts()) >= 100


def test_sources_are_the_events_that_say_so() -> None:
    events = [said("Kubernetes (k8s) is up."), said("no"), said("k8s is short for Kubernetes.", seq=3)]
    assert learn(events) == (Alias("Kubernetes", "k8s", (1, 3)),)


def test_tools_teach_nothing() -> None:
    assert learn([said("Kubernetes (k8s)", kind="tool")]) == ()


def test_speaker_without_a_name_has_no_alias() -> None:
    assert taught("Call me Bob.") == taught("Call me Bob.", "user") == taught("Call me Bob.", "Speaker 1") == set()


def test_assistant_is_not_called_what_it_offers() -> None:
    assert learn([said("Call me Bob.", kind="assistant", name="Claude")]) == ()


@pytest.mark.parametrize(
    ("first", "second"),
    [("N.A.T.O.", "nato"), ("U.S.", "US"), ("GitHub  Actions", "github actions"), ("ＡＷＳ", "aws"), ("“Bob”", "bob")],
)
def test_spellings_of_one_name_have_one_key(first: str, second: str) -> None:
    assert key_of(first) == key_of(second)
