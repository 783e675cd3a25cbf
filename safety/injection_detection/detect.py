"""Finds texts that try to be a command: to a database, to a browser, to the model.

A heuristic that lowers trust and requests a review; it is not a security boundary, because a
determined attacker can avoid it. Each pattern requires the form of an attack, not its words alone:
"update the docs and set a reminder" and "you are now connected to the VPN" are ordinary.
"""

import re
from enum import StrEnum
from typing import Final

from msgspec import Struct

from safety.decoding import decoded
from safety.injection_detection.patterns import PROMPT, SQL, XSS, InjectionRule, build_rule
from safety.secret_detection.credential_sentences import looks_like_credential

_READER: Final = (
    r"(?:ai|a\.i\.|llms?|(?:large\s+)?language\s+models?|assistants?|chat\s?bots?|chatgpt|claude|"
    r"gpt(?:-?\d\w{0,3})?|gemini|copilot|(?:ai\s+)?agents?)"
)
_MUST: Final = r"(?:must|should|shall|need(?:s)?\s+to|has\s+to|have\s+to|will\s+now|is\s+to)"
_DEED: Final = (
    r"(?:delete|forward|send|e?mail|reveal|ignore|disregard|call|execute|output|respond|reply|"
    r"approve|transfer|include|recommend|remember|store|forget|obey|print|visit|open|click)"
)
_BEFORE: Final = r"(?:before|earlier|above|previously|until\s+now|so\s+far|prior)"

INDIRECT: Final[tuple[InjectionRule, ...]] = (
    build_rule(
        "spoken_to_models",
        "ai llm model assistant bot gpt claude gemini copilot agent tool memor all every _",
        rf"\b(?:note|message|instructions?|attention|hint|warning|reminder)\s{{1,4}}(?:to|for)\s{{1,4}}"
        rf"(?:the\s+|any\s+|all\s+)?{_READER}\b\s{{0,4}}[:!,.]",
        rf"\bif\s{{1,4}}you(?:\s+are|'re)\s{{1,4}}(?:an?\s+|the\s+)?{_READER}\b[^\n.]{{0,60}}\b{_DEED}\b",
        rf"\b{_READER}\s{{1,4}}(?:that\s+(?:is|are)\s+)?(?:reading|processing|summari[sz]ing|parsing)"
        rf"\s{{1,4}}(?:this|the)\b[^\n.]{{0,40}}\b{_MUST}\s{{1,4}}(?:\w+\s{{1,4}}){{0,2}}?{_DEED}\b",
        rf"\b(?:important|urgent|critical)\W{{1,4}}(?:the\s+)?{_READER}\s{{1,4}}{_MUST}\s{{1,4}}{_DEED}\b",
        rf"\b{_READER}\W{{1,4}}(?:all\s+)?your\s{{1,4}}(?:\w+\s{{1,4}}){{0,2}}?(?:rules|instructions|"
        r"guidelines|orders)\s{1,4}(?:are|have|were)\s{1,4}(?:been\s+)?(?:revoked|replaced|updated|"
        r"cancelled|changed|overridden)\b",
        rf"\b(?:when(?:ever)?|once|after|if|as\s+soon\s+as)\s{{1,4}}you\s{{1,4}}(?:have\s+)?(?:read|see|seen|process(?:ed)?|"
        rf"receive|parse)\s{{1,4}}this\b[^\n.]{{0,30}}\b{_DEED}\s{{1,4}}(?:the\s+)?(?:tool\b|all\b|every|memor|\w+_\w+)",
        r"\b(?:call|use|invoke|run)\s{1,4}(?:the\s+)?(?:memory_delete|memory_store|update_customer_brain|"
        r"[a-z]{2,20}_delete)\b[^\n.]{0,40}\b(?:everything|all|every|without)\b",
    ),
    build_rule(
        "planted",
        "store remember save mention recommend respond answer developer god debug",
        r"\b(?:store|save|remember|note)\s{1,4}(?:in|to)\s{1,4}"
        r"(?:your\s+|the\s+|long[- ]term\s+)?memory\s{1,4}"
        r"(?:that\s+)?(?:the\s+)?(?:user|person|customer)\s{1,4}"
        r"(?:is|has|wants|may|can|approved)\b",
        r"\balways\s{1,4}(?:recommend|mention|promote|answer|respond|reply)\b[^\n]{0,60}\b(?:regardless|"
        r"no\s+matter|whatever|instead\s+of)\b",
        r"\b(?:and|but)\s{1,4}(?:do\s+not|don'?t|never)\s{1,4}mention\s{1,4}(?:it|this|that)\s{1,4}to\s{1,4}"
        r"(?:the\s+)?(?:user|customer|human|reader)\b",
        r"\b(?:respond|reply|answer)\s{1,4}only\s{1,4}with\s{1,4}(?:the\s+)?(?:word|phrase|text)\b",
        r"\b(?:operate|run|continue|respond|work|be)\s{1,4}in\s{1,4}(?:developer|god|debug|dan|jailbreak|"
        r"unrestricted)\s{1,4}mode\b",
        r"\b(?:answer|respond|act|behave)\s{1,4}as\s{1,4}\w{1,20}\s{1,4}(?:without|with\s+no)\s{1,4}"
        r"(?:\w+\s{1,4}){0,2}?(?:filters?|restrictions?|limits|rules)\b",
    ),
    build_rule(
        "reveal_prompt",
        "prompt developer instruction rules guideline directive creator maker told",
        r"\b(?:show|tell|give|send|read)\s{1,4}(?:me\s{1,4})?the\s{1,4}prompt\s{1,4}(?:that\s+)?you\s{1,4}"
        r"(?:were|have\s+been|got)\b",
        r"\b(?:reveal|show|print|repeat|output|display|leak|disclose|recite|tell)\s{1,4}(?:me\s{1,4})?(?:all\s{1,4})?"
        r"(?:the|your)\s{1,4}(?:\w{1,20}\s{1,4}){0,2}?(?:instructions?|rules|guidelines|directives)\s{1,4}(?:that\s+)?"
        r"you\s{1,4}(?:were|have\s+been|had\s+been|got)\s{1,4}(?:given|told|sent|provided)\b",
        r"\b(?:tell|show|give|reveal)\s{1,4}(?:me\s+)?your\s{1,4}(?:hidden|secret|internal)\s{1,4}(?:rules|orders|instructions?)\b",
        rf"\bwhat\s{{1,4}}were\s{{1,4}}you\s{{1,4}}(?:told|instructed)\s{{1,4}}{_BEFORE}\s{{1,4}}(?:this|the|our)\b",
        r"\b(?:hidden|system)\s{1,4}prompt\b[^\n]{0,30}\b(?:echo|disclos|verbatim|print|repeat)",
        r"\b(?:reads?|recites?|here\s+is|tells?)\s{1,4}(?:me\s+|us\s+)?the\s{1,4}(?:hidden|system)\s{1,4}prompt\b",
        r"\bwhat\s{1,4}(?:did\s+)?your\s{1,4}(?:developers?|creators?|makers?)\s{1,4}(?:told|tell|"
        r"instruct(?:ed)?)\s{1,4}you\b",
        r"\b(?:print|echo|return)\s?\(?\s?system_prompt\b",
    ),
    build_rule(
        "ignore_instructions",
        "ignore disregard forget stop obey bypass disable rules",
        rf"\b(?:ignore|disregard|forget)\s{{1,4}}(?:all\s+)?what(?:ever)?\s{{1,4}}(?:\w+\s{{1,4}}){{1,5}}?{_BEFORE}\b",
        r"\b(?:stop|quit)\s{1,4}(?:following|obeying)\s{1,4}(?:\w+\s{1,4}){0,2}?(?:your|the\s+system|the\s+developers?)\b",
        r"\bobey\s{1,4}(?:only\s+)?(?:me|us)\b[^\n.]{0,30}\b(?:not|instead|only|over)\b",
        r"\b(?:bypass|disable|deactivate|circumvent)\s{1,4}(?:all\s+|any\s+)?(?:the|your|these)\s{1,4}"
        r"(?:\w+\s{1,4}){0,2}?(?:filters?|safeguards?|guardrails?|restrictions?)\b",
        r"\bin\s{1,4}which\s{1,4}you\s{1,4}have\s{1,4}no\s{1,4}(?:rules|limits|restrictions|filters)\b",
    ),
    build_rule(
        "reveal_others",
        "memor message conversation secret",
        r"\b(?:show|tell|list|print|reveal|read|give)\s{1,4}(?:me\s+)?(?:all\s+)?(?:of\s+)?(?:the\s+)?"
        r"(?:memories|messages|conversations|secrets)\s{1,4}(?:of|from)\s{1,4}(?:all\s+)?(?:the\s+)?(?:other|another)\b",
        r"\boverride\s{0,4}:\s{0,4}(?:print|show|reveal|send|delete)\b",
    ),
    build_rule(
        "disguised",
        "ign i g 1gn !gn prev pr3v",
        r"\b(?:ignore|disregard|forget)[-_.](?:all[-_.])?(?:previous|prior|above)[-_.](?:instructions?|prompts?|rules)\b",
        r"\b(?=\w*[013@])d[i1!]sr[e3]g[a@4]rd\s{1,4}(?:[a@4]ll\s{1,4})?pr[e3]v[i1!][o0]us\b",
        r"\bignore(?:all)?(?:the)?(?:previous|prior|above)\s{0,4}(?:instructions?|prompts?|rules)\b",
        r"\b[i1!]gn[o0]r[e3]\s{1,4}(?:[a@4]ll\s{1,4})?(?:(?=\w*[013])pr[e3]v[i1!][o0]us|pr[e3]v[i1!][o0]us\s{1,4}"
        r"(?=\w*[013@])[i1!]nstruct[i1!][o0]ns?)",
        r"\bi[\s._-]{1,3}g[\s._-]{1,3}n[\s._-]{1,3}o[\s._-]{1,3}r[\s._-]{1,3}e\b",
    ),
    build_rule(
        "ignore_instructions_elsewhere",
        "écout bỏ qua abaikan lupakan ignor jätä unohda αγνό ξέχ התעל שכח zapome ігнор забуд ละเว้น "
        "เพิกเฉย hagyd felejtsd bortse glem forget zignor preskoč ignorez puuza เมิน",
        r"\bignorier\w{0,3}\s+(?:bitte\s+)?alles,?\s+(?:was\s+)?(?:\w+\s+){0,3}?(?:oben|zuvor|vorher|davor|bisher)\b",
        r"\bn['’]écout\w{1,3}\s+(?:plus|pas)\s+(?:tes|les|vos|ces)\s+(?:consigne|instruction|règle|ordre)s?\b",
        r"\bignora(?:te)?\s+(?:ciò|tutto|quello)\s+(?:\w+\s+){1,5}?(?:prima|sopra|precedenza)\b",
        r"\bbỏ\s+qua\s+(?:\S+\s+){0,4}?(?:hướng\s+dẫn|chỉ\s+dẫn|lệnh|quy\s+tắc)",
        r"\b(?:abaikan|lupakan)\s+(?:\w+\s+){0,2}?(?:instruksi|perintah|arahan|aturan)\b",
        r"\b(?:ignorera|ignorér|ignorer|bortse\s+från|glem|glöm)\s+(?:\w+\s+){0,3}?"
        r"(?:instruktion|instruks|anvisning|regler|regel)\w{0,5}",
        r"\b(?:jätä\s+huomiotta|unohda|ohita)\s+(?:\w+\s+){0,3}?(?:ohje|käsky|sään)\w{0,6}",
        r"(?:αγνόησ|ξέχασ)\w{0,4}\s+(?:\w+\s+){0,4}?(?:οδηγί|εντολ|κανόν)\w{0,5}",
        r"(?:התעלם|התעלמי|שכח)\s+(?:\S+\s+){0,3}?\S{0,3}(?:הוראות|הנחיות|כללים)",
        r"\b(?:ignoruj|zapomeň|zabudni)\w{0,3}\s+(?:\w+\s+){0,3}?(?:pokyn|instrukc|pravid)\w{0,4}",
        r"(?:ігноруй|забудь)\w{0,3}\s+(?:\S+\s+){0,3}?(?:інструкц|вказівк|правил)\w{0,4}",
        r"(?:ละเว้น|เพิกเฉย|เมิน)\S{0,12}(?:คำสั่ง|คำแนะนำ|กฎ)",
        r"\bignor(?:ă|ați|ati|a)\s+(?:\w+\s+){0,2}?(?:instrucțiun|instructiun|reguli|regul)\w{0,5}",
        r"\b(?:hagyd\s+figyelmen\s+kívül|felejtsd\s+el)\s+(?:\S+\s+){0,4}?(?:utasítás|szabály)\w{0,5}",
    ),
)


__all__ = [
    "InjectionFinding",
    "InjectionKind",
    "detect_injection",
    "looks_like_credential",
    "neutralise_markers",
]

MAX_FINDINGS: Final = 100
"""Maximum findings of one text."""


class InjectionKind(StrEnum):
    """The target of an injected command."""

    SQL = "sql"
    XSS = "xss"
    PROMPT = "prompt"


class InjectionFinding(Struct, frozen=True):
    """A match from `start` to `end`; `name` is a stable code for logs."""

    kind: InjectionKind
    name: str
    start: int
    end: int


_RULES: Final[tuple[tuple[InjectionKind, InjectionRule], ...]] = (
    *((InjectionKind.SQL, rule) for rule in SQL),
    *((InjectionKind.XSS, rule) for rule in XSS),
    *((InjectionKind.PROMPT, rule) for rule in (*PROMPT, *INDIRECT)),
)
_STEMS: Final = tuple(
    (stem, number) for number, (_, rule) in enumerate(_RULES) for stem in rule.stems
)
_MARKERS: Final = re.compile(
    r"\[\s{0,4}(?P<role>SYSTEM|ADMIN|INSTRUCTION|INSTRUCTIONS|DEVELOPER|ROOT)\s{0,4}\]"
    r"|(?<!content: )(?P<words>IGNORE[ \t]{1,4}(?:ALL[ \t]{1,4})?PREVIOUS)",
    re.IGNORECASE,
)


def detect_injection(text: str) -> list[InjectionFinding]:
    """Return possible injections in order of their position, at most `MAX_FINDINGS`.

    Escapes and compatibility letters are looked through. Time grows with the text only.
    """
    plain = decoded(text)
    lowered = plain.view.lower()
    # Nearly every text has none of a rule's stems, so that this loop is what a text costs.
    rules = {number: None for stem, number in _STEMS if stem in lowered}
    findings = [
        InjectionFinding(_RULES[number][0], _RULES[number][1].name, *plain.span(*match.span()))
        for number in rules
        for match in _RULES[number][1].expression.finditer(plain.view)
    ]
    return sorted(findings, key=lambda finding: (finding.start, finding.end))[:MAX_FINDINGS]


def neutralise_markers(text: str) -> str:
    """Return text of low trust without the markers that pose as an authority: `[SYSTEM]` becomes
    `[content: system]`, "ignore previous" `[content: ignore previous]`. Idempotent; the result can
    be longer."""
    return _MARKERS.sub(_as_content, text)


def _as_content(match: re.Match[str]) -> str:
    words = match["role"] or " ".join(match["words"].split())
    return f"[content: {words.lower()}]"
