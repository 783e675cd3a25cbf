"""English words that say nothing about what a question is about."""

from typing import Final

STOP_WORDS: Final = frozenset(
    """
    a about after again all am an and any are as at be because been before being but by can could d
    did do does doing don for from further had has have having he her here hers herself him himself
    his how i if in into is it its itself just ll m me more most my myself no nor not now of off on
    once only or other our ours ourselves out over own re s same she should so some such t than that
    the their theirs them themselves then there these they this those through to too under until up
    ve very was we were what when where which while who whom whose why will with would you your
    yours yourself yourselves isn aren wasn weren hasn haven hadn doesn didn won
    wouldn couldn shouldn
    """.split()  # noqa: SIM905 - reads better
)
