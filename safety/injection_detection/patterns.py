"""The patterns of common injections. Every gap is bounded, so the time is linear in the text."""

import re
from typing import Final

from msgspec import Struct

_GAP: Final = r"[\s\"'`*_.,:;()-]{1,12}"


class InjectionRule(Struct, frozen=True):
    """A pattern; `name` is a stable code. It matches only in a text that contains one of its
    `stems` in lower case."""

    name: str
    stems: tuple[str, ...]
    expression: re.Pattern[str]


def build_rule(name: str, stems: str, *alternatives: str) -> InjectionRule:
    """Return a rule of these alternatives. `stems` are separated by spaces; without any, the rule
    is always searched."""
    return InjectionRule(
        name, tuple(stems.split()) or ("",), re.compile("|".join(alternatives), re.IGNORECASE)
    )


_COLUMNS: Final = r"(?:\*|[\w.`\"\[\]@()*]{1,60}(?:\s{0,4},\s{0,4}[\w.`\"\[\]@()*]{1,60}){0,20})"
_NAME: Final = r"[\w.`\"\[\]]{1,60}"
_SPACE: Final = r"(?:\s|/\*[^*]{0,20}\*/|\+|%20){1,8}"
# A statement in prose has words behind it; one that is meant ends, goes on in SQL, or is quoted.
_GOES_ON: Final = (
    r"(?=\s{0,4}(?:;|--|#|\Z|[\"'`)]|\n)|\s{1,4}(?:where|limit|order\s+by|group\s+by|join|union|"
    r"inner|left|having|values|set)\b)"
)

SQL: Final[tuple[InjectionRule, ...]] = (
    build_rule(
        "select",
        "select",
        rf"\bselect{_SPACE}(?:distinct{_SPACE}|all{_SPACE})?\*{_SPACE}from{_SPACE}{_NAME}",
        rf"\bselect{_SPACE}{_COLUMNS}{_SPACE}from{_SPACE}{_NAME}{_GOES_ON}",
    ),
    build_rule(
        "probe",
        "extractvalue updatexml procedure like",
        r"\b(?:extractvalue|updatexml)\s?\(",
        r"\bprocedure\s{1,4}analyse\s?\(",
        r"['\"]\)?\s{1,4}(?:and|or)\s{1,4}[\w.]{1,40}\s{1,4}like\s{1,4}'[^'\n]{0,60}'\s{0,4}(?:--|#)",
    ),
    build_rule("union", "union", rf"\bunion{_SPACE}(?:all{_SPACE}|distinct{_SPACE})?select\b"),
    build_rule(
        "drop",
        "drop truncate alter",
        rf"\bdrop{_SPACE}(?:table|database|schema)s?{_SPACE}(?:if{_SPACE}exists{_SPACE})?{_NAME}"
        r"(?=\s{0,4}(?:;|--|cascade|\Z|[\"'`)]|\n))",
        rf"\b(?:truncate|alter){_SPACE}table{_SPACE}{_NAME}(?=\s{{0,4}}(?:;|--|\Z|add|drop|rename))",
    ),
    build_rule("delete", "delete", rf"\bdelete{_SPACE}from{_SPACE}{_NAME}{_GOES_ON}"),
    build_rule(
        "insert",
        "insert",
        rf"\binsert{_SPACE}into{_SPACE}{_NAME}\s{{0,4}}(?:\([^()]{{1,300}}\)\s{{0,4}})?"
        r"(?:values|select)\b",
    ),
    build_rule(
        "update",
        "update",
        rf"\bupdate{_SPACE}{_NAME}{_SPACE}set{_SPACE}{_NAME}\s{{0,4}}=\s{{0,4}}\S",
    ),
    build_rule(
        "tautology",
        "or and || &&",
        r"['\"`)]\s{0,4}(?:or|and|\|\||&&)\s{1,4}['\"(]{0,2}(\w{1,20})['\"]?\s{0,3}(?:=|like)\s{0,3}['\"]?\1\b",
        r"\bor\s{1,4}1\s{0,3}=\s{0,3}1\b",
        r"['\"]\s{0,4}(?:or|and)\s{1,4}(?:true|not\s+false|sleep\(|benchmark\()",
        r"['\"]\)?\s{1,4}(?:or|and|\|\||&&)\s{1,4}(?:'{2}|\"{2})\s{0,4}(?:=|like\b)",
        r"['\"]\)?\s{1,4}(?:and|or)\s[^'\"\n]{1,100}?(?:--|#)\s{0,4}\Z",
    ),
    build_rule(
        "stacked",
        "; xp_ sp_ schema sleep waitfor load_file file -- #",
        r"['\")]\s{0,4};\s{0,4}(?:drop|delete|insert|update|select|exec|shutdown|truncate|alter|create)\b",
        r"\b(?:xp_cmdshell|information_schema\.\w|pg_sleep\s?\(|waitfor\s{1,4}delay|load_file\s?\(|"
        r"into\s{1,4}(?:out|dump)file\b|sleep\(\d+\)\s{0,4}(?:--|#|\)))",
        r"\bexec(?:ute)?\s{1,4}(?:immediate|xp_\w|sp_\w)",
        r"\w['\"]\)?\s{1,4}(?:order|group)\s{1,4}by\s{1,4}\d{1,3}\s{0,4}(?:--|#|\Z)",
        r"\w['\"]\)?\s{0,4}(?:--|#)(?:\s|\Z|-)(?=\s{0,4}\Z)",
    ),
)

XSS: Final[tuple[InjectionRule, ...]] = (
    build_rule(
        "script",
        "script",
        r"<\s{0,9}/?\s{0,9}script(?:[\s/>]|\Z)",
        r"(?:&lt;?|&#0{0,6}60;?|&#x0{0,6}3c;?|%3c|\\u003c|\\x3c)/?script\b",
    ),
    build_rule(
        "scheme",
        "script data:",
        r"(?:javascript|vbscript|livescript)\s{0,9}:\s{0,9}[\w(\[/%'\"&]",
        r"data:text/html[,;]",
    ),
    build_rule("event", "on", r"<[^<>\n]{0,300}?[\s/\"']on[a-z]{3,30}\s{0,9}="),
    build_rule(
        "event",
        "on",
        r"(?:^|[\s\"'/])on[a-z]{3,30}\s{0,4}=\s{0,4}[\"'`]?[^\s\"'>]{0,80}\(",
    ),
    build_rule(
        "frame",
        "frame object embed applet base meta",
        r"<\s{0,4}(?:iframe|frame|object|embed|applet|base|meta)[\s/](?=[^<>]{0,300}=)",
    ),
    build_rule("svg", "svg math", r"<\s{0,4}(?:svg|math)[\s/][^<>]{0,200}=", r"<svg>"),
    build_rule(
        "cookie",
        "document",
        r"\bdocument\s?\.\s?(?:cookie\b|location\s{0,4}=|write\s?\(\s?[\"'`]\s?(?:<|&lt))",
    ),
    build_rule(
        "style",
        "expression binding behavior",
        r"(?:expression|-moz-binding|behavior)\s{0,4}[:(]\s{0,4}(?:url|alert|javascript)",
    ),
)

_ALL: Final = r"(?:(?:all|any|every|each|the|these|those|your|of|and|both)\s{1,4}){0,5}"
_EARLIER: Final = (
    r"(?:previous(?:ly)?|prior|preceding|above|earlier|initial|original|system|existing|former|"
    r"foregoing|past|safety|developer)"
)
_RULES: Final = (
    r"(?:instruction|direction|prompt|rule|guideline|command|order|directive|message|context|"
    r"constraint|restriction|programming|training|polic(?:y|ies)|conversation|text|filter|task|"
    r"guardrail|setting|limitation|input)s?"
)
_DROP: Final = (
    r"(?:ignore|disregard|forget|neglect|override|overrule|bypass|discard|dismiss|"
    r"do\s+not\s+follow|don'?t\s+follow|stop\s+following|pay\s+no\s+attention\s+to|abandon|reset|"
    r"set\s+aside)"
)

PROMPT: Final[tuple[InjectionRule, ...]] = (
    build_rule(
        "ignore_instructions",
        "ignore disregard forget neglect over bypass discard dismiss follow attention abandon "
        "reset aside disable turn switch",
        rf"\b{_DROP}\s{{1,4}}{_ALL}(?:{_EARLIER}\s{{1,4}}){{1,3}}(?:\w+\s{{1,4}}){{0,2}}?{_RULES}\b",
        rf"\b{_DROP}\s{{1,4}}{_ALL}{_RULES}\s{{1,4}}(?:(?:that|which|you|were|have|been|I|we|was)\s+){{0,4}}"
        r"(?:above|before|given|received|provided|told|so\s+far|until\s+now|previously|earlier|up\s+to)\b",
        r"\b(?:ignore|disregard|forget)\s{1,4}(?:all|everything|anything)\s{1,4}(?:of\s+)?"
        r"(?:(?:that|the|you|was|were|have|been|what|I|we)\s+){0,4}"
        r"(?:above|before|prior|previous|said|told|written|instructed|know|learned)\b",
        rf"\b(?:ignore|disregard|forget|bypass|override)\s{{1,4}}(?:all\s+(?:of\s+)?)?(?:your|the\s+system'?s?)"
        rf"\s{{1,4}}(?:\w+\s{{1,4}}){{0,2}}?{_RULES}\b",
        rf"\b(?:ignore|disregard)\s{{1,4}}all\s{{1,4}}{_RULES}\b",
        rf"\b{_DROP}\s{{1,4}}{_ALL}{_RULES}\s{{1,4}}of\s{{1,4}}(?:the|your)\s{{1,4}}"
        r"(?:system|developers?|operators?|owners?|creators?|makers?)\b",
        rf"\b(?:{_DROP}|disable|turn\s+off|switch\s+off)\s{{1,4}}{_ALL}"
        r"(?:content|safety|moderation)[\s-]{1,4}(?:polic|filter|guard|guideline|check|restriction|rule)",
    ),
    build_rule(
        "ignore_instructions_elsewhere",
        "ignor vergi vergess missacht überspring oubli abstraction olvid desestim descart omit "
        "esque desconsider dimentic trascur negeer vergeet zapomnij pomiń игнор забу отмен yok "
        "unut görmez 忽 无视 忘 理会 無視 前の これまで 上記 이전 위의 지금 تجاهل انس पिछले सभी",
        r"\b(?:ignorier|vergiss|vergesst|missacht|überspring|vergessen\s+sie)\w{0,4}\s{1,4}(?:\w+\s{1,4}){0,4}?"
        r"(?:anweisung|instruktion|vorgabe|regel|befehl|prompt|aufforderung)\w{0,3}",
        r"\b(?:ignor|oubli|fai(?:s|tes)\s+abstraction\s+d)\w{0,4}\s{1,4}(?:toutes?\s+)?(?:les|tes|vos|ces|mes)\s{1,4}"
        r"(?:\S+\s{1,4}){0,3}?"
        r"(?:instruction|consigne|directive|règle|ordre)s?\b",
        r"\b(?:ignor|olvid|desestim|descart|omit)\w{0,4}\s{1,4}(?:\w+\s{1,4}){0,4}?"
        r"(?:instruccion|indicacion|regla|orden|directriz|directrice)\w{0,3}\b",
        r"\b(?:ignor|esque[çc]|desconsider|descart)\w{0,4}\s{1,4}(?:\w+\s{1,4}){0,4}?"
        r"(?:instruç|instrucoes|instrucao|regra|orden|diretriz)\w{0,5}",
        r"\b(?:ignor|dimentic|trascur)\w{0,4}\s{1,4}(?:\w+\s{1,4}){0,4}?(?:istruzion|regol|direttiv|comand)\w{0,3}",
        r"\b(?:negeer|vergeet)\s{1,4}(?:\w+\s{1,4}){0,4}?(?:instructie|opdracht|regel|aanwijzing)\w{0,3}",
        r"\b(?:zignoruj|zapomnij|pomiń)\s{1,4}(?:\w+\s{1,4}){0,4}?(?:instrukcj|polece|zasad)\w{0,4}",
        r"(?:игнорир|забуд|проигнорир|отмен)\w{0,6}\s{1,4}(?:\w+\s{1,4}){0,4}?(?:инструкци|указани|правил|команд)\w{0,4}",
        r"(?:önceki|yukarıdaki)\s+(?:tüm\s+)?(?:talimat|komut)\w{0,8}\s+(?:yok\s?say|unut|görmez)",
        r"\b(?:vergiss|vergessen\s+sie|ignorier\w{0,3})\s+alles,?\s+(?:was|zuvor|vorher|bisher|oben|davor|obige)\b",
        r"\b(?:olvid\w{1,3}|ignor\w{1,2})\s+todo\s+(?:lo\s+(?:anterior|que|de\s+antes)|tu)\b",
        r"\boubli(?:e|ez)\s+tout\s+(?:ce\s+qu|le\s+reste|avant)",
        r"\besque[çc]\w{1,2}\s+tudo\s+(?:o\s+que|acima|antes)|\bdimentica\s+tutto\s+(?:quello|ciò|il)",
        r"(?:забудь|забудьте|игнорируй)\w{0,3}\s+(?:вс[её]|предыдущ\w{1,4})",
        r"(?:忽略|无视|忘记|忘掉|不要理会|無視|忽視)[^\n。]{0,12}(?:指令|指示|提示|规则|規則|命令|说明|內容|内容)",
        r"(?:以前|これまで|上記|前)の[^\n。]{0,10}(?:指示|命令|プロンプト)[^\n。]{0,6}(?:無視|忘れ)",
        r"(?:이전|위의|지금까지)[^\n.]{0,12}(?:지시|명령|프롬프트)[^\n.]{0,8}(?:무시|잊)",
        r"(?:تجاهل|انس)\w{0,2}\s{1,4}(?:\w+\s{1,4}){0,4}?(?:التعليمات|الأوامر|القواعد)",
        r"(?:पिछले|सभी)\s{1,4}(?:\w+\s{1,4}){0,3}?निर्देश\w{0,4}",
    ),
    build_rule(
        "new_identity",
        "you act behave respond role simulate imagine pretend anything mode from who unrestricted "
        "unfiltered uncensored jailbroken amoral apply stop",
        r"\byou\s{1,4}are\s{1,4}(?:now|no\s+longer)\s{1,4}(?:going\s+to\s+(?:act|be|pretend|play)|"
        r"(?:an?\s+|the\s+|my\s+)?(?:\w+\s+){0,3}?(?:dan\b|stan\b|dude\b|aim\b|evil|unrestricted|unfiltered|"
        r"uncensored|jailbroken|jailbreak|amoral|immoral|unethical|hacker|free\s+(?:from|of)|bound\s+by|in\s+(?:developer|god|admin|debug|dan|root)"
        r"|root\b|omnipotent|an?\s+ai\b|chatbot|bot\b|language\s+model|pirate|persona|opposite|machiavel\w*|assistant|terminal|system|gpt\w*))",
        r"\b(?:pretend|act|behave|respond|roleplay|role-play|simulate|imagine)\s{1,4}(?:\w+\s{1,4}){0,4}?"
        r"(?:as\s+(?:dan|if\s+you\s+(?:have|had|are|were)\s+(?:no|not|un|free|an?\s+un\w+))|"
        r"you\s+(?:are|have|were|can|do)\s+(?:no|not|un|free\s+of|without|do\s+anything|dan\b|an?\s+(?:un|evil|jail|hack))\w*)",
        r"\bdo\s{1,4}anything\s{1,4}now\b",
        r"\b(?:unrestricted|unfiltered|uncensored|jailbroken|amoral)\s{1,4}(?:ai|assistant|model|chatbot|version|bot|llm|mode|persona)\b",
        r"\b(?:who|that|which|and)\s{1,4}(?:doesn'?t|does\s+not|never|don'?t|do\s+not|won'?t)\s{1,4}(?:have\s+to\s+)?"
        r"(?:follow|obey|abide\s+by|respect|adhere\s+to)\s{1,4}(?:\w+\s{1,4}){0,2}?(?:rules|guidelines|restrictions|policies)\b",
        r"\b(?:rules|restrictions|guidelines|policies)\s{1,4}(?:above\s+|below\s+)?(?:don'?t|do\s+not|no\s+longer)\s{1,4}apply\b",
        r"\byou\s{1,4}(?:no\s+longer\s+have|have\s+no)\s{1,4}(?:any\s+)?(?:content\s+polic|safety|restrictions|filters|guidelines)",
        r"\bstop\s{1,4}(?:being|acting\s+as)\s{1,4}an?\s{1,4}(?:ai\s+|helpful\s+)?(?:assistant|ai|model)\b",
        r"\bfrom\s{1,4}now\s{1,4}on\W{0,4}(?:you|your|act|respond|answer|ignore|every|always|only)\b.{0,60}?"
        r"\b(?:act|respond|answer|ignore|behave|pretend|obey|are|will|must|role|unrestricted|restrictions?|rules|filters?)\b",
        r"\b(?:jailbreak(?:ed|ing)?|dan|god|sudo|unrestricted|root)\s{1,4}mode\s{1,4}"
        r"(?:is\s+)?(?:now\s+)?(?:on|enabled?|activated?|active|engaged|unlocked|override)\b",
        r"\b(?:enter|enable|activate|switch\s+(?:in)?to|go\s+into|unlock)\s{1,4}(?:\w+\s{1,4}){0,2}?"
        r"(?:jailbreak|dan|god|unrestricted|unfiltered|sudo|root)\s{1,4}mode\b",
        r"\byou\s{1,4}(?:have|are)\s{1,4}(?:been\s{1,4})?(?:freed|liberated|jailbroken)\b",
    ),
    build_rule(
        "reveal_prompt",
        "prompt instruction system guideline configuration directive above",
        r"\b(?:reveal|show|print|repeat|output|display|tell\s+me|give\s+me|leak|dump|disclose|recite|expose|"
        r"write\s+out|what\s+(?:is|are|was|were)|copy|summari[sz]e|paste|share|list)\s{1,4}(?:\w+\s{1,4}){0,4}?"
        r"(?:your|the\s+system'?s?|system|hidden|initial|secret|confidential|developer)\s{1,4}"
        r"(?:\w+\s{1,4}){0,3}?(?:system\s+prompt|prompt|instructions|system\s+message|guidelines|configuration|directives)\b",
        r"\b(?:repeat|print|output|copy)\s{1,4}(?:\w+\s{1,4}){0,3}?(?:everything|all|words?|text|content)\s{1,4}"
        r"(?:\w+\s{1,4}){0,3}?above\b",
        r"\bsystem\s{1,4}prompt\s{0,4}(?::|=)",
    ),
    build_rule(
        "new_instructions",
        "instruction directive order rule override command response begin end start stop system",
        r"\b(?:new|updated|revised|real|actual|true|important|urgent|critical|additional)\s{1,4}"
        r"(?:system\s+)?(?:instructions?|directives?|orders)\s{0,4}(?::|\n|!)",
        r"\b(?:system|admin(?:istrator)?|developer|security|operator)\s{1,4}(?:override|instructions?|directive|command)\b[^\n]{0,20}[:!\]]",
        r"(?:^|\n)\s{0,4}(?:\#{2,3}|\*\*)\s{0,4}(?:instructions?|response|system|new\s+task)\s{0,4}\*{0,2}:",
        r"(?:begin|end|start|stop)\s{0,3}(?:of\s+)?(?:system|user|assistant|admin)\s{0,3}(?:prompt|message|instructions?|output|input)\b",
        r"\b(?:end|stop)\s{1,4}of\s{1,4}(?:the\s+)?(?:prompt|instructions|system\s+message)\b",
    ),
    build_rule(
        "role_marker",
        "< [ system human assistant",
        r"</?\s{0,4}(?:system|assistant|instructions?|system-reminder|admin)\s{0,4}>",
        r"<\|[\w ]{1,40}\|>|\[/?INST\]|<</?SYS>>|<(?:start|end)_of_turn>",
        r"\[\s{0,4}(?:system|admin|instructions?|developer)(?:\s+(?:message|note|prompt|override))?\s{0,4}\](?!\()",
        r"(?:^|\n)[ \t]{0,8}(?-i:SYSTEM|System|Human|Assistant|HUMAN|ASSISTANT|"
        r"system\s+(?:message|prompt|note))\s{0,4}:",
    ),
    build_rule(
        "exfiltration",
        "send post forward mail upload exfil transmit leak ![ dump",
        r"\b(?:send|post|forward|email|e-mail|upload|exfiltrate|transmit|leak)\s{1,4}(?:\w+\s{1,4}){0,4}?"
        r"(?:conversation|chat\s+history|memor(?:y|ies)|secrets|passwords|credentials|api\s+keys?|system\s+prompt|private\s+data|tokens)\s{1,4}"
        r"(?:\w+\s{1,4}){0,4}?(?:to|at|via)\s{1,4}(?:\S{0,20}(?:https?:|@|\.com|\.net|\.org)|the\s+following)",
        r"!\[[^\]\n]{0,100}\]\(https?://[^)\s?]{1,200}\?[^)\s]{0,280}(?:=\{|=\[|=<|\{\{)",
        r"\bdump\s{1,4}(?:all\s+)?(?:the\s+|your\s+)?(?:passwords|secrets|credentials|memories)\b",
    ),
    build_rule(
        "concealment",
        "user without restrict censor polic filter",
        r"\b(?:do\s+not|don'?t|never)\s{1,4}(?:tell|inform|mention|reveal|show|alert|notify|let)\s{1,4}"
        r"(?:\w+\s{1,4}){0,3}?(?:the\s+)?user\b(?!\s+(?:base|group|story)).{0,60}?\b(?:this|instruction|that|about|these|know|prompt|message)\b",
        r"\bwithout\s{1,4}(?:\w+\s{1,4}){0,3}?(?:any\s+)?(?:moral|ethical|safety)\s{1,4}(?:\w+\s{1,4}){0,3}?"
        r"(?:restriction|constraint|filter|guideline|limit|consideration)s?\b",
        r"\b(?:no|without)\s{1,4}(?:\w+\s{1,4}){0,2}?(?:restrictions|censorship|content\s+polic(?:y|ies)|filters)\b.{0,40}?\b(?:answer|respond|do|comply|anything)\b",
    ),
)
