"""English word classes for the surface features, in lower case; none of the lists contains first names."""

from gapstack.data import person_words
from gapstack.data.person_words import SUBJECTS, Gender, words_of


def _listed(*lines: str) -> frozenset[str]:
    return frozenset(word for line in lines for word in line.split())


NOMINATIVES = SUBJECTS
POSSESSIVES = person_words.POSSESSIVES | {"its"}
POSSESSIVE_MARKS = frozenset({"'s", "\u2019s"})
QUOTES = frozenset({"''", "``", '"', "\u201c", "\u201d"})
COMMAS = frozenset({","})
SEMICOLONS = frozenset({";", ":", "--", "\u2013", "\u2014"})
PARENTHESES = frozenset({"(", ")", "[", "]"})

PREPOSITIONS = _listed(
    "of in on at to for by with from about against between among into through during without within under",
    "over behind beside besides beyond near toward towards upon via like unlike alongside including opposite",
    "featuring following than versus vs as",
)
COORDINATORS = _listed("and or but nor yet & plus")
SUBORDINATORS = _listed(
    "when while as after before because since that if although though where until till once whether how why",
    "whereas unless so what",
)
RELATIVES = _listed("who whom whose which that")
AUXILIARIES = _listed(
    "is was are were be been being am has had have having do does did will would can could may might shall",
    "should must 'd 'll",
)
# Clause boundaries.
BOUNDARIES = (
    COMMAS | SEMICOLONS | QUOTES | PARENTHESES | SUBORDINATORS | COORDINATORS | RELATIVES | frozenset({"."})
)
DETERMINERS = _listed("the a an this that these those each every some any no both all another such its it")
FUNCTION = (
    PREPOSITIONS
    | COORDINATORS
    | SUBORDINATORS
    | RELATIVES
    | DETERMINERS
    | _listed("there then also not i we you they my our your it its however here now just only even later to")
)
ADVERBS = _listed("also then later never always often again still soon once now just ever not already thus")
# Words that are capitalised at the start of a sentence without being names.
OPENERS = FUNCTION | _listed(
    "other many most several two three four five one both despite upon although born later soon further more",
    "much few first second third finally meanwhile together originally initially currently due according next",
    "throughout when her his she he their out up off down back ultimately eventually instead early once",
)
NAME_PARTICLES = _listed("de da do dos del della di du la le van von der den bin ibn al el y of the")
# Verb forms common in biographies without -ed or -s.
VERBS = _listed(
    "became began beat bought brought built came caught chose cut dealt did drew drove fell felt fought found",
    "gave gets got grew held hit kept knew laid led left lent let lost made meant met paid put quit ran read",
    "rose said sang sat saw sent set shot sold spent spoke stood struck swore taught thought threw told took",
    "understood went won wore wrote broke hid rode shook slept stole sought swept tore woke bore bred fled",
    "become begin come fall feel find get give go keep know leave let live lose make meet play run say see",
    "sing take tell think try want win work write",
)
REPORTING = _listed(
    "said says told tells asked asks replied added explained claimed stated believed thought knew realized",
    "realised revealed admitted announced argued wrote felt suggested insisted recalled noted",
)
# Titles and nouns that indicate the gender of an adjacent name.
FEMALE, MALE = words_of("cue", Gender.FEMININE), words_of("cue", Gender.MASCULINE)
# Relational nouns: in "his teammate X", X is not him.
RELATIONS = _listed(
    "sister mother daughter wife widow girlfriend fiancee aunt niece grandmother granddaughter father brother",
    "son husband boyfriend fiance uncle nephew grandfather grandson cousin friend partner colleague teammate",
    "rival mentor teacher coach manager student pupil successor predecessor assistant boss employer lover",
    "spouse parent child sibling twin ex-wife ex-husband ex-boyfriend ex-girlfriend half-brother half-sister",
    "opponent co-star stepfather stepmother stepson stepdaughter sister-in-law brother-in-law father-in-law",
    "mother-in-law son-in-law daughter-in-law agent producer bandmate roommate classmate neighbor neighbour",
    "secretary servant maid nurse guardian heir ally enemy best younger older elder eldest youngest first",
    "second third late former future fellow close old then-wife then-husband longtime",
)

# Kinds of neighbouring words; the first match counts.
KINDS: dict[str, frozenset[str]] = {
    "subordinator": SUBORDINATORS,
    "coordinator": COORDINATORS,
    "preposition": PREPOSITIONS,
    "relative": RELATIVES,
    "auxiliary": AUXILIARIES,
    "comma": COMMAS,
    "quote": QUOTES,
    "reporting": REPORTING,
}
