"""Questions with the time that each asks about, written for this project. Asked on Monday, 5 June 2023, at noon.

A line is a question, "=", and the interval: a year, a month, a day, or FROM..TO, both ISO dates, TO excluded; one that
is left out is open. Seasons are those of the northern hemisphere. A period without a year is the last one that has
begun; "last" and a name is the last one that has ended.
"""

from datetime import date, timedelta

ENGLISH = """
What did we decide in March? = 2023-03
What did Ana paint in October? = 2022-10
What happened in May? = 2023-05
Who joined the team in June? = 2023-06
What did I say in January 2022? = 2022-01
Which tournament did Nate win in August, 2022? = 2022-08
what was planned for Sept 2021 = 2021-09
Which issues came up during Dec. 2022? = 2022-12
What did the doctor say last month? = 2023-05
What did I work on this month? = 2023-06
What did we ship last year? = 2022
What has changed this year? = 2023
What did Maya buy in 2021? = 2021
Did Andrew have a dog during 2020? = 2020
What did we discuss last week? = 2023-05-29..2023-06-05
What did Ben complain about this week? = 2023-06-05..2023-06-12
What did I ask you yesterday? = 2023-06-04
What did we agree on the day before yesterday? = 2023-06-03
What did I tell you today? = 2023-06-05
What was I doing this morning? = 2023-06-05
What did Maya cook last night? = 2023-06-04
What did we do last weekend? = 2023-06-03..2023-06-05
Where were we two weekends ago? = 2023-05-27..2023-05-29
Where did Lena go over the weekend? = 2023-06-03..2023-06-05
What did the vendor promise two weeks ago? = 2023-05-22..2023-05-29
What did I write three days ago? = 2023-06-02
What did I write 3 days ago? = 2023-06-02
Where did Caroline move from four years ago? = 2019
What was the budget two months ago? = 2023-04
What did we pay a year ago? = 2022
What did Tom say a week ago? = 2023-05-29..2023-06-05
What did I mention a couple of days ago? = 2023-06-03
What did we test a few days ago? = 2023-05-31..2023-06-05
What did she tell me last Friday? = 2023-06-02
What did we talk about on Friday? = 2023-06-02
What was decided on Monday? = 2023-06-05
What was decided last Monday? = 2023-05-29
What did the plumber fix this past Tuesday? = 2023-05-30
Which bug was found on Wednesday? = 2023-05-31
What did Jo plan for next Friday? = 2023-06-09
What do we do tomorrow? = 2023-06-06
What is planned for next week? = 2023-06-12..2023-06-19
What will happen next month? = 2023-07
Where do we go next year? = 2024
Where did I travel last summer? = 2022-06-01..2022-09-01
What did I plant last spring? = 2023-03-01..2023-06-01
What did we do last winter? = 2022-12-01..2023-03-01
What did we build last fall? = 2022-09-01..2022-12-01
Where was Jolene in summer 2022? = 2022-06-01..2022-09-01
What did Ana do in the summer of 2021? = 2021-06-01..2021-09-01
Which race did he run in spring? = 2023-03-01..2023-06-01
What did I harvest in autumn? = 2022-09-01..2022-12-01
What did we do over the winter? = 2022-12-01..2023-03-01
What did I plan for this summer? = 2023-06-01..2023-09-01
What did Maya say on 3 June? = 2023-06-03
What did Maya say on June 3rd? = 2023-06-03
What did Maya say on the 3rd of June? = 2023-06-03
What did Maya say on the 3rd? = 2023-06-03
What happened on October 24, 2022? = 2022-10-24
What happened on 24 October 2022? = 2022-10-24
What did we sign on Oct 24? = 2022-10-24
What did we sign on Nov. 7th, 2022? = 2022-11-07
Who called on 2023-02-14? = 2023-02-14
Who called on 2023/02/14? = 2023-02-14
Which invoice was sent on 14.02.2023? = 2023-02-14
What did Nate make on Friday, 25 February 2022? = 2022-02-25
What did I do on New Year's Eve? = 2022-12-31
What did we eat on Christmas 2022? = 2022-12-25
What did we plan between May and July? = 2023-05-01..2023-08-01
What did we plan between May and July 2022? = 2022-05-01..2022-08-01
What happened between October and December? = 2022-10-01..2023-01-01
What happened between November and February? = 2022-11-01..2023-03-01
What was said between 3 March and 10 April? = 2023-03-03..2023-04-11
What was said between 3 and 10 March? = 2023-03-03..2023-03-11
What was said from 3 to 10 March 2022? = 2022-03-03..2022-03-11
Which trips were made from March to May 2022? = 2022-03-01..2022-06-01
What changed between 2020 and 2022? = 2020-01-01..2023-01-01
What changed from 2019 through 2021? = 2019-01-01..2022-01-01
What happened between March 2022 and January 2023? = 2022-03-01..2023-02-01
What did we discuss between Monday and Wednesday? = 2023-05-29..2023-06-01
What have I bought since March? = 2023-03-01..
What did we change since last week? = 2023-05-29..
What has Maya told me since 2021? = 2021-01-01..
What is new since yesterday? = 2023-06-04..
What is new since 12 May? = 2023-05-12..
What did Ben want before March? = ..2023-03-01
What did Ben want before 2022? = ..2022-01-01
How many tournaments had Nate won by July 10, 2022? = ..2022-07-11
How many pets did Andrew have as of September 2022? = ..2022-10-01
Who lived here until 2021? = ..2022-01-01
What did we know up to last Friday? = ..2023-06-03
Which cities did I visit after April? = 2023-05-01..
Which cities did I visit after 12 May 2023? = 2023-05-13..
What was open prior to 1 May? = ..2023-05-01
What did I learn in the last two weeks? = 2023-05-22..2023-06-06
What did I learn in the past 10 days? = 2023-05-26..2023-06-06
What did I learn over the past few months? = 2023-03-05..2023-06-06
What did I learn in the past year? = 2022-06-05..2023-06-06
What did I read in the last 3 months? = 2023-03-05..2023-06-06
Which tickets were closed within the last 24 hours? = 2023-06-04..2023-06-06
What did we agree in the first week of April? = 2023-04-01..2023-04-08
Where did Andrew go during the first weekend of August 2022? = 2022-08-06..2022-08-08
Where was Jolene in the last week of August 2022? = 2022-08-25..2022-09-01
What happened at the beginning of May? = 2023-05-01..2023-05-11
What happened at the end of April? = 2023-04-21..2023-05-01
What happened in early March? = 2023-03-01..2023-03-11
What happened in mid-March? = 2023-03-11..2023-03-21
What happened in late 2022? = 2022-09-01..2023-01-01
What did we plan early this year? = 2023-01-01..2023-05-01
Was the first half of September 2022 good for them? = 2022-09-01..2022-09-16
What was the revenue in Q3 2022? = 2022-07-01..2022-10-01
What was the revenue in the second quarter of 2022? = 2022-04-01..2022-07-01
What did we earn last quarter? = 2023-01-01..2023-04-01
What was said in the week of 8 May? = 2023-05-08..2023-05-15
What did we eat in the 1990s? = 1990-01-01..2000-01-01
What music did dad play in the nineties? = 1990-01-01..2000-01-01
What happened in March last year? = 2022-03
What happened last March? = 2023-03
What did we do in May of last year? = 2022-05
What did I do this time last year? = 2022-05-22..2022-06-20
What did the team decide back in February? = 2023-02
Anything noted on 5/31? = 2023-05-31
Did we meet in April or May? = 2023-04-01..2023-06-01
What did I do an hour ago? = 2023-06-05
What did I ask you half a year ago? = 2022-12
"""

OTHERS = """
Was haben wir im März beschlossen? = 2023-03
Was hat Ana im Oktober 2022 gemalt? = 2022-10
Was habe ich gestern gefragt? = 2023-06-04
Was sagte der Arzt letzte Woche? = 2023-05-29..2023-06-05
Was hat Ben vor zwei Wochen versprochen? = 2023-05-22..2023-05-29
Was war vor drei Monaten das Budget? = 2023-03
Wo waren wir letzten Sommer? = 2022-06-01..2022-09-01
Was geschah am 3. Juni? = 2023-06-03
Was geschah am 24.10.2022? = 2022-10-24
Was planten wir zwischen Mai und Juli 2022? = 2022-05-01..2022-08-01
Was habe ich seit März gekauft? = 2023-03-01..
Was haben wir am Freitag besprochen? = 2023-06-02
Was war vor 2022 anders? = ..2022-01-01
Was lief letztes Jahr schief? = 2022
Was haben wir im Frühling gepflanzt? = 2023-03-01..2023-06-01
Was kam Anfang Mai heraus? = 2023-05-01..2023-05-11
Was habe ich in den letzten zwei Wochen gelernt? = 2023-05-22..2023-06-06
Qu'avons-nous décidé en mars ? = 2023-03
Qu'a peint Ana en octobre 2022 ? = 2022-10
Qu'est-ce que j'ai demandé hier ? = 2023-06-04
Qu'a dit le médecin la semaine dernière ? = 2023-05-29..2023-06-05
Qu'a promis Ben il y a deux semaines ? = 2023-05-22..2023-05-29
Où étions-nous l'été dernier ? = 2022-06-01..2022-09-01
Que s'est-il passé le 3 juin ? = 2023-06-03
Que s'est-il passé le 1er mai 2022 ? = 2022-05-01
Qu'avons-nous prévu entre mai et juillet 2022 ? = 2022-05-01..2022-08-01
Qu'ai-je acheté depuis mars ? = 2023-03-01..
De quoi avons-nous parlé vendredi dernier ? = 2023-06-02
Que s'est-il passé l'année dernière ? = 2022
Qu'est-ce qui était différent avant 2022 ? = ..2022-01-01
Qu'a-t-on appris le mois dernier ? = 2023-05
Que savions-nous au printemps 2022 ? = 2022-03-01..2022-06-01
¿Qué decidimos en marzo? = 2023-03
¿Qué pintó Ana en octubre de 2022? = 2022-10
¿Qué pregunté ayer? = 2023-06-04
¿Qué dijo el médico la semana pasada? = 2023-05-29..2023-06-05
¿Qué prometió Ben hace dos semanas? = 2023-05-22..2023-05-29
¿Dónde estuvimos el verano pasado? = 2022-06-01..2022-09-01
¿Qué pasó el 3 de junio? = 2023-06-03
¿Qué pasó el 24 de octubre de 2022? = 2022-10-24
¿Qué planeamos entre mayo y julio de 2022? = 2022-05-01..2022-08-01
¿Qué he comprado desde marzo? = 2023-03-01..
¿De qué hablamos el viernes? = 2023-06-02
¿Qué pasó el año pasado? = 2022
¿Qué era diferente antes de 2022? = ..2022-01-01
¿Qué aprendimos el mes pasado? = 2023-05
¿Qué hice hace tres días? = 2023-06-02
"""

NO_TIME = """
May I use the second option?
May we cancel the order?
You may want to ask April about it: where does she live?
Does April like jazz?
What does June's sister do?
Where does August work?
Should we march on with the plan?
What did the protest march demand?
Which route do soldiers march along?
How do I configure spring boot?
Which spring framework version do we use?
Why is the spring in the sofa broken?
Did the bolt fall out?
Why did the server fall over?
What makes leaves fall?
Where is the sun?
What did The Sun write about us?
Why does the sat nav fail?
Who sat beside Maya?
Did they wed in Rome?
What is mon ami in English?
What is a second option for the database?
Which option came second?
What is the retry timeout in seconds?
How many minutes does the build take?
How many days of leave do I have?
What is the day rate of the freelancer?
Which day care does Lena use?
How do I format a date in Python?
What is a good date for Maya?
Which dates does the recipe need?
What is the weekly report about?
What does the monthly fee cover?
Who wrote the year book?
What is the score of 2023 points about?
How much is 2020 dollars?
Which port does 2019 use, or is it 8080?
What is in room 2021?
What does error 1999 mean?
How many users have 2000 tokens?
What is the version 3.10.2 about?
Which fraction is 1/2?
What is the ratio of 3/4 about?
Does the ip 10.12.20.23 answer?
What is the best time complexity?
Which time zone does Ben use?
Whose night shift is it?
What is the Friday the band sang of?
What does Monday.com cost?
Who is Robinson's man Friday?
What is the last name of Ben?
What is the last step of the deploy?
What is the next step?
How do I get the last element of a list?
What is the past tense of go?
Does the winter coat fit?
Which summer school did Ana choose?
What is the mar of the metal?
What does dec mean in hex to dec?
Where is the sept of the clan?
How do I use setInterval in JavaScript?
Wo mag ich am liebsten essen?
Welche Option ist die zweite?
Quel est le deuxième choix ?
¿Cuál es la segunda opción?
"""


def asked(lines: str) -> list[tuple[str, date | None, date | None]]:
    """Each question with its interval: the end is excluded, None where a side is open."""
    pairs = (line.rsplit(" = ", 1) for line in lines.strip().splitlines())
    return [(question, *_interval(said)) for question, said in pairs]


def _interval(said: str) -> tuple[date | None, date | None]:
    if ".." in said:
        begin, end = said.split("..")
        return (date.fromisoformat(begin) if begin else None, date.fromisoformat(end) if end else None)
    year, *rest = (int(part) for part in said.split("-"))
    if not rest:
        return date(year, 1, 1), date(year + 1, 1, 1)
    if len(rest) == 1:
        return date(year, rest[0], 1), date(year + rest[0] // 12, rest[0] % 12 + 1, 1)
    day = date(year, *rest)
    return day, day + timedelta(days=1)
