"""Common short forms of first names, as data: the evidence for "Robert (Bob)"."""

_TABLE = """
abby abigail; al albert alan alfred; alex alexander alexandra alexandre alejandro alessandro; andi andreas andrea;
andy andrew andreas; angie angela; annie anna anne; art arthur; barb barbara; becky rebecca; ben benjamin benedict;
bernie bernard bernhard; bert albert hubert herbert; beth elizabeth; betty elizabeth; bill william; billy william;
bob robert roberto; bobby robert; brad bradley; cathy catherine; charlie charles charlotte; chris christopher christian
christine christina; chuck charles; cindy cynthia; connie constance; dan daniel; danny daniel; dave david; deb deborah;
debbie deborah; dick richard; don donald; doug douglas; drew andrew; ed edward edwin edgar; eddie edward; ellie eleanor;
fran frances francis francesca; frank francis franklin; fred frederick alfred friedrich; fritz friedrich; gabe gabriel;
gabi gabriele; gene eugene; gerry gerald gerard; gigi luigi; greg gregory gregor; gus augustus gustav; hank henry;
hannes johannes; hans johannes; harry henry harold; heinz heinrich; ike isaac; jack john jackson; jake jacob jakob;
jan johannes; jen jennifer; jenny jennifer; jeff jeffrey geoffrey; jerry gerald jeremy jerome; jess jessica; jim james;
jimmy james; jochen joachim; joe joseph; joey joseph; johnny john; jon jonathan; josh joshua; jürg georg jürgen;
kai kaito; kalle karl; kate katherine catherine katharina; kathy katherine kathleen; katie katherine; ken kenneth;
kim kimberly; larry lawrence laurence; leo leonard leonardo leopold; les leslie lester; lili elisabeth; liz elizabeth;
lisa elisabeth elizabeth; lizzie elizabeth; lou louis louise; lulu luise; maggie margaret; manny manuel emmanuel;
marge margaret; matt matthew matthias; max maximilian maxwell maxime; meg margaret; mel melanie melvin melissa;
mick michael; mickey michael; mike michael; mitch mitchell; molly mary; nacho ignacio; nancy ann anne; nat nathaniel
natalie; nate nathan nathaniel; ned edward; nick nicholas nicolas nikolaus; nico nicolas nicola; nora eleanor;
paco francisco; pam pamela; pancho francisco; pat patrick patricia; patty patricia; peggy margaret; pepe josé jose;
pete peter; phil philip phillip; polly mary; quique enrique; ralf radolf; ray raymond; rich richard; rick richard;
rob robert; robbie robert; rod rodney roderick; ron ronald; rosie rose rosa; russ russell; sally sarah; sam samuel
samantha; sandy alexander alexandra sandra; sasha alexander alexandra; sebi sebastian; sepp josef; sid sidney;
simone simona; steffi stefanie stephanie; steve steven stephen; sue susan suzanne; susi susanne; ted edward theodore;
terry terence theresa; tim timothy; tina christina martina bettina; tobi tobias; toby tobias; tom thomas; tommy thomas;
toni antonio anton antonia; tony anthony antonio; trish patricia; uli ulrich ulrike; val valerie valentin; vic victor
victoria; vicky victoria; wally walter wallace; walt walter; wes wesley; will william; willy wilhelm william;
xavi xavier; zach zachary
"""
NICKNAMES = {entry.split()[0]: frozenset(entry.split()[1:]) for entry in _TABLE.split(";")}
FIRST_NAMES = frozenset().union(*NICKNAMES.values())
"""The first names with a common short form."""
