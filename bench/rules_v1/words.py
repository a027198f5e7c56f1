"""The lexicon: the topics of everyday words. One table from a word to the signals that it fires.

General vocabulary of English conversation, chosen by topic and grammar; no entry is specific to one dialogue.
"""

_CLASSES: dict[str, str] = {
    # grammar
    "i": "i im i'm i've ive i'll i'd",
    "my": "my mine",
    "me": "me myself",
    "we": "we we're we've we'll we'd our ours us",
    "you": "you your yours you're youre you've you'll you'd u ur yourself",
    "modal": "can could able know how",
    "negation": "not don't dont never can't cant no didn't didnt doesn't isn't wasn't haven't won't couldn't wouldn't "
    "cannot none neither havent without",
    "hedge": "maybe might probably perhaps guess suppose seems possibly",
    "hypothetical": "if would could wonder imagine should",
    # what people do
    "taste": "like likes liked love loves loved enjoy enjoys enjoyed hate hates hated prefer prefers preferred "
    "favorite favourite favorites favourites fave fan dislike adore loving enjoying passion passionate obsessed into "
    "fond",
    "habit": "always never usually often sometimes every weekly daily mostly typically normally tend regularly rarely "
    "weekends mornings evenings mondays sundays saturdays fridays",
    "possess": "have has had own owns got bought having adopted",
    "change": "started start starting moved joined quit finished learned learning learn became bought got adopted "
    "broke won lost signed opened passed went visited took tried made built met began decided decide chose chosen "
    "retired",
    "childhood": "used grew growing raised childhood since",
    # what they talk about
    "family": "mom mum mother dad father parents parent wife husband spouse partner girlfriend boyfriend fiance fiancé "
    "fiancee son sons daughter daughters kid kids child children baby brother brothers sister sisters sibling "
    "siblings grandma grandpa grandmother grandfather grandparents grandkids grandson granddaughter nephew niece aunt "
    "uncle cousin cousins family twins married divorced engaged pregnant single ex stepdad stepmom roommate hubby fam",
    "pet": "dog dogs cat cats puppy puppies kitten kittens pet pets horse horses fish bird birds parrot rabbit hamster "
    "turtle chickens cows goats snake lizard",
    "job": "job work works worked working career business company office boss teacher teach teaching nurse doctor "
    "engineer lawyer manager retired retire accountant waitress chef driver writer artist musician student programmer "
    "salary hired promotion store restaurant clients customers employees degree college university school class "
    "classes study studying studied major graduate graduated exam exams training volunteer shift freelance military "
    "army interview",
    "home": "live lives lived living house home apartment moved moving move town city country state farm neighborhood "
    "rent mortgage grew raised born garden yard kitchen beach area lake mountains",
    "leisure": "read reading book books movie movies music song songs band concert play plays played playing guitar "
    "piano violin game games gaming watch watching show shows tv series sport sports football soccer basketball "
    "baseball tennis gym run running runs ran hike hiking swim swimming yoga dance dancing paint painting draw "
    "drawing travel traveling trip vacation cook cooking bake baking fishing hunting camping biking bike skiing "
    "surfing knitting sewing gardening collect collection photography sing singing write writing workout exercise "
    "club lessons",
    "food": "food eat eating vegetarian vegan meat chicken steak pizza pasta cheese chocolate coffee tea beer wine "
    "cake breakfast lunch dinner recipe fruit vegetables spicy sushi burger bread salad drink allergic diet",
    "body": "hair eyes tall weight health healthy sick allergies asthma diabetes surgery doctor pain anxiety "
    "depression sleep injury cancer blind deaf disability medication therapy afraid scared fear",
    "thing": "car truck phone laptop computer motorcycle boat van suv garage",
    "money": "money pay paid buy bought spend save saving saved budget expensive debt loan dollars cost",
    "age": "age old older young younger years year birthday months",
    "when": "tomorrow tonight weekend week month next today yesterday last ago summer winter spring fall monday "
    "tuesday wednesday thursday friday saturday sunday january february march april june july august september "
    "october november december recently lately",
    # how they talk
    "courtesy": "hi hello hey thanks thank welcome congratulations congrats sorry bye goodbye goodnight wow cheers",
    "agreement": "agree agreed understand true exactly same right absolutely definitely sure yep totally",
}


def _invert(classes: dict[str, str]) -> dict[str, tuple[str, ...]]:
    table: dict[str, tuple[str, ...]] = {}
    for signal, words in classes.items():
        for word in dict.fromkeys(words.split()):
            table[word] = (*table.get(word, ()), signal)
    return table


WORDS: dict[str, tuple[str, ...]] = _invert(_CLASSES)
"""Lower-case word → names of the signals that it fires."""
