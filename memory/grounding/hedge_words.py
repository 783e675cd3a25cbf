"""The words of uncertainty, as patterns over a text as `hedges.py` folds it.

Folded means: lower case, no accents, straight apostrophes, one space between words. Every pattern
is tried at the beginning of a word. Categories and their first
members are those of the grounded-ingestion rules (sources 004); German, French and Spanish have the
commonest.
"""

from typing import Final

_ADVERB: Final = (
    "really|still|just|also|do|did|sort of|kind of|kinda|personally|honestly|actually|frankly|"
    "strongly|firmly|mostly|only|always|often|would|might|could|can|must|for one|truly|sincerely|"
    "definitely|certainly|sometimes|have to|used to|will|tend to|have|'d|'ve|'m|am|was"
)
_I: Final = rf"\b[il]\b,?(?: ?\b(?:{_ADVERB})\b,?| ?'(?:d|ve|m)\b){{0,3}}"
"""The first person and what may stand between it and its verb; "l" passes for it."""
_NEG: Final = r"(?:do not|don't|dont|did not|didn't|cannot|can't|never)"
_VERY: Final = (
    r"(?:(?:quite|entirely|really|completely|100%|totally|too|very|exactly|all that) ){0,2}"
)

_DIGIT: Final = r"[$€£]? ?\d"
_COUNT: Final = (
    r"(?:an? (?:dozen|hundred|thousand|million|hour|week|month|year|day|third|quarter)\b|half\b"
    r"|(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty"
    r"|fifty|sixty|ninety|hundreds?|thousands?|noon|midnight)\b)"
)

SPECULATION: Final = (
    # "I think of", "I believe in", "I figure out" and "I assume control" say something else.
    (
        rf"{_I}(?: {_NEG})?,? (?:think|thought|guess|guessed|believe|believed|assume|assumed"
        r"|suppose|supposed|suspect|suspected|imagine|imagined|reckon|reckoned|presume|presumed|speculate"
        r"|figured?)\b(?! (?:of|in|out|through|it over|twice|responsibility|control)\b)"
    ),
    rf"{_I} (?:thinking|guessing|assuming|speculating|supposing)\b",
    r"\b[il] (?:feel|felt) (?:like|that)\b|\b[il](?:'d| would) (?:say|wager|bet|venture)\b",
    r"\b[il] have (?:a|the) (?:feeling|hunch|suspicion|impression)\b",
    r"\b(?:my|our) (?:best )?(?:guess|hunch|assumption|impression|suspicion|gut feeling)\b",
    r"\bimh?o\b|\bin my (?:humble |honest |personal )?opinion\b|\bmethinks\b|\bto my mind\b",
    r"\b(?:seems?|looks|appears) to me\b",
    r"\bich (?:glaube|denke|vermute|schatze|meine|nehme an)\b(?! an\b)",
    r"\b(?:glaube?|denke?|vermute|schatze) ich\b|\bmeiner (?:meinung|ansicht) nach\b",
    r"\bje (?:ne )?(?:crois|pense|suppose|imagine|presume)\b(?! (?:en|a)\b)",
    r"\ba mon avis\b|\bselon moi\b|\ben mi opinion\b",
    r"\b(?:yo )?(?:creo|pienso|supongo|imagino|opino) que\b",
)

UNCERTAINTY: Final = (
    rf"{_I} {_NEG} (?:really |quite |exactly |actually )?(?:know|remember|recall)\b(?! how to\b)",
    r"\b[il] dunno\b|\b[il] wonder\b|\bcorrect me if\b|\bdon't quote me\b|\bwho knows\b",
    (
        rf"\b(?:[il]'m|[il] am|we're|we are),? (?:really |still |honestly )?"
        rf"(?:not {_VERY}(?:sure|certain|positive|confident)|unsure|uncertain)\b"
    ),
    rf"(?<!\w )not {_VERY}(?:sure|certain)\b",
    r"\b[il] (?:could|may|might) (?:well )?be (?:\w+ )?(?:wrong|mistaken|misremembering)\b",
    r"\bif [il](?:'m| am) not mistaken\b|\bif memory serves\b|\bif [il] (?:recall|remember)\b",
    r"\biirc\b|\bafaik\b|\bafaict\b|\bas far as [il] (?:know|can tell|remember|understand)\b",
    r"\bto the best of my knowledge\b|\b(?:[il]|we) have no (?:idea|clue)\b",
    r"(?<!\w )no (?:idea|clue)\b|\bhard to (?:say|tell)\b",
    r"\bich (?:weiss|weiß) (?:es )?nicht\b|\bich bin (?:mir )?nicht (?:ganz )?sicher\b",
    r"\b(?:meines wissens|soweit ich weiss|soweit ich weiß|keine ahnung)\b",
    r"\bje ne sais pas\b|\bje ne suis pas (?:sure?|certaine?)\b|\bautant que je sache\b",
    r"\byo no se\b|\bno se (?:si|cual|cuando|donde|muy bien)\b|\bno (?:estoy|soy) segur[oa]\b",
)

SUGGESTION: Final = (
    # The type Maybe, maybe(...), maybe = ... and Maybe<T> are code.
    r"\bmaybe\b(?! (?:types?|monads?)\b|[<\[({]| ?=|[.:]\w|::)|\bperhaps\b|\bmayhap\b",
    r"(?<!cannot )(?<!can't )\bpossibly\b",
    r"\b(?:how|what) about (?:we|us|if|\w+ing)\b|\bwhat if we\b|\bwhy don't we\b",
    r"\b(?:we|you) (?:could|might) (?:try|consider)\b|\b(?:we|you) (?:might|may) want to\b",
    r"\b(?:might|may|could) be worth\b|\b[il](?: would|'d)? suggest (?:we|to|that we|\w+ing)\b",
    r"\bvielleicht\b|\bwomoe?glich\b|\beventuell\b|\bevtl\b",
    r"\bpeut[- ]etre\b|\bquizas?\b|\btal vez\b|\ba lo mejor\b",
)

TECHNICAL: Final = (
    r"\bmay\b(?!'|-)|\bmight\b|\bcould\b(?! not\b| you\b)",
    r"(?<!how )(?<!as )\boften\b|\b(?:typically|usually|generally|normally|commonly|frequently)\b",
    r"\b(?:sometimes|occasionally|rarely|seldom|mostly|largely|in most cases|in general)\b",
    r"\b(?:probably|presumably|apparently|supposedly|allegedly|reportedly|potentially)\b",
    r"\b(?:arguably|conceivably|hopefully|likely|unlikely|seemingly|evidently)\b|\bin theory\b",
    r"\b(?:seems?|appears?|tends?) (?:to|that|like|as)\b|\bseems \w+|\bpossible that\b",
    r"\bshould (?:probably|likely|perhaps|hopefully|work|suffice)\b",
    r"\bshould be (?:fine|ok|okay|enough|able|safe)\b|\b(?:is|are|was|were) (?:sort|kind) of\b",
    # What somebody else holds to be so.
    r"(?<!it )(?:thinks|believes|guesses|assumes|suspects|reckons|supposes)\b",
    (
        r"\b(?:we|she|he|they|everyone|everybody|people|who) (?:also |still |really )?"
        r"(?:think|thought|believed?|guess|guessed|suppose|supposed|suspect|suspected|reckon)\b"
        r"(?! (?:of|in)\b)"
    ),
    r"\b(?:is|are|he's|she's|they're) (?:not sure|not certain|unsure)\b",
    r"\b(?:wahrscheinlich|vermutlich|moe?glicherweise|normalerweise|meistens|manchmal|oft)\b",
    r"\b(?:ue?blicherweise|gewoe?hnlich|angeblich|anscheinend|offenbar|hae?ufig)\b",
    r"\b(?:probablement|generalement|normalement|souvent|parfois|apparemment|il se peut)\b",
    r"\b(?:probablemente|posiblemente|generalmente|normalmente|a menudo|a veces|al parecer)\b",
)

APPROXIMATION: Final = (
    r"\bapprox(?:imately)?\b|\broughly\b|\bcirca\b|\bmore or less\b|\bgive or take\b|\bballpark\b",
    rf"\b(?:around|about|nearly|almost|ca\.?|etwa|rund|alrededor de|unos|unas) {_DIGIT}",
    rf"\b(?:around|nearly|almost) {_COUNT}|\b\d+ ?-?ish\b",
    r"\b\d+(?: \w+)? or so\b|\bungefae?hr\b|\benviron\b|\ba peu pres\b",
    r"\baproximadamente\b|\bmas o menos\b",
)

TILDE: Final = r"(?<![\w/])~ ?\d|≈"
"""Approximations that begin with no letter."""

_MONTHS: Final = (
    "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    "|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?"
)
_ENDS: Final = (
    r"(?=$|[.,;:!?)/-]| (?:\d|and|or|to|this|next|last|at|on|for|when|because|but|is|was)\b)"
)
_BEFORE: Final = "in|since|until|till|by|during|of|last|next|early|late|mid|before|after|every|from"

NOT_MODAL: Final = (
    r"\bmay (?:\d{1,2}(?:st|nd|rd|th)?\b|(?:19|20)\d\d\b)|\bmay (?:is|was|day)\b",
    rf"\b(?:{_BEFORE}|\d{{1,2}}(?:st|nd|rd|th)?(?: of)?)[ -](?:(?-i:May)\b(?! be\b)|may\b{_ENDS})",
    rf"\b(?:the|this|our|my) (?-i:May)\b|\b(?:{_MONTHS}) ?(?:,|/|-|–|to|and|or) ?may\b",
    rf"\bmay ?(?:,|/|-|–|to|and|or|through|until) ?(?:{_MONTHS})\b",
    r"(?-i:\b[A-Z][a-z]+ May)(?='s|[.,;]|$| (?:said|is|was|has|had)\b)",
    r"\b(?:the|his|her|their|our|its|all|military|full|sheer) might(?= (?:of|and)\b|[.,;:!?)]|$)",
    r"\bmight (?:of|is right|makes right)\b",
)
"""The month or the name May, and might that is strength."""
