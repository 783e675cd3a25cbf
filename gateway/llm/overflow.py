"""Decides whether the error of a model's server means that the conversation is too long.

Each server says it in its own words, some with a status of their own. What they share is a sentence
in which a thing of the request (prompt, input, messages, context) meets a word for excess (exceeds,
too long, reduce), or two figures of which the larger one is the request's. Errors that use the same
words for something else are told apart: rates, credits, the length of the answer alone, pictures,
and single fields of the request.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct
from pydantic_core import from_json

from gateway.errors import ContextTooLong

SMALLEST: Final = 16
LARGEST: Final = 100_000_000
"""Figures outside of this range are no sizes of a prompt or a window."""

_NUMBER: Final = re.compile(r"(?<![\w.<])(\d{1,3}(?:[,_]\d{3})+|\d{1,12})(k\b)?(?![\w]|\.\d)")
_FOREIGN_UNIT: Final = re.compile(
    r"^\s*(?:bytes|[kmg]i?b\b|char|pixels?|images?|px\b|seconds?|ms\b|days?|hours?|minutes?)"
)
_COUNTS_CHARACTERS: Final = re.compile(r"maxlength|string with|characters")
_LIMIT_BEFORE: Final = re.compile(
    r"max|limit|context (?:length|size|window)|n_ctx|window|<=|≤|at most|allowed|up to|only"
    r"|less than|more than|exceed|range of|model of|length of|上限|最大|限制"
)
_COUNT_BEFORE: Final = re.compile(
    r"request(?:ed| contains| has)|result|contains?\b|\bgot\b|actual"
    r"|received|current|given|provided"
)
_LIMIT_AFTER: Final = re.compile(r"^\s*(?:tokens?\s+)?(?:max|limit)")
_EXCESS_BEFORE: Final = re.compile(r"exceed.{0,60} by (?:about )?$")
_COMPARED_AFTER: Final = re.compile(r"^\s*(?:tokens?\s+)?>")
_COMPARED_BEFORE: Final = re.compile(r">=?\s*(?:n_ctx\W{0,3})?$")
_ADDED_BEFORE: Final = re.compile(r"\+\s*$")
_ADDED_AFTER: Final = re.compile(r"^\s*\+")
_ANSWER_BEFORE: Final = re.compile(r"max_\w{0,20}tokens\W.{0,50}too large\W{0,2}$")
_ANSWER_AFTER: Final = re.compile(
    r"^\W*(?:of )?(?:tokens? )?(?:\w+ ){0,3}(?:max_new|completion|output)"
)
_PROMPT_AFTER: Final = re.compile(r"^\W*(?:tokens? )?(?:\w+ ){0,3}(?:inputs?\b|prompt|messages)")
_OPEN_BOUND: Final = re.compile(r"at least\s*$")


class RequestFigures(Struct, frozen=True):
    """In tokens, None if it is not named: `tokens` of the prompt, `limit` of the window, and by how
    much the prompt exceeds it (`excess`)."""

    tokens: int | None = None
    limit: int | None = None
    excess: int | None = None


class _FoundNumbers(Struct):
    """The figures of a text by what they count."""

    prompt: list[int] = []
    answer: list[int] = []
    limits: list[int] = []
    others: list[int] = []
    excess: int | None = None
    open_bound: bool = False


def figures_in(text: str) -> RequestFigures:
    """Return the figures in a text of small letters."""
    if _COUNTS_CHARACTERS.search(text):
        return RequestFigures()
    found = _FoundNumbers()
    for value, before, after in _numbers(text):
        _sort(found, value, before, after)
    limit = found.limits[0] if found.limits else None
    return RequestFigures(_tokens_of_prompt(found, limit), limit, found.excess)


def _sort(found: _FoundNumbers, value: int, before: str, after: str) -> None:
    if _EXCESS_BEFORE.search(before):
        found.excess = value
    elif _ADDED_AFTER.search(after):
        found.prompt.append(value)
    elif _ADDED_BEFORE.search(before) or _ANSWER_BEFORE.search(before):
        found.answer.append(value)
    elif _COMPARED_AFTER.search(after):
        found.prompt.append(value)
    elif _COMPARED_BEFORE.search(before) or _LIMIT_AFTER.search(after):
        found.limits.append(value)
    elif _ANSWER_AFTER.search(after):
        found.answer.append(value)
    else:
        found.open_bound = found.open_bound or bool(_OPEN_BOUND.search(before))
        if _PROMPT_AFTER.search(after):
            found.prompt.append(value)
        elif _end_of_last(_LIMIT_BEFORE, before) > _end_of_last(_COUNT_BEFORE, before):
            found.limits.append(value)
        else:
            found.others.append(value)


def _tokens_of_prompt(found: _FoundNumbers, limit: int | None) -> int | None:
    if found.open_bound:
        return None  # the server stopped to count at its limit
    total = max((value for value in found.others if value > (limit or 0)), default=0)
    if found.answer and total > found.answer[0]:
        return total - found.answer[0]
    return found.prompt[0] if found.prompt else total or None


def _end_of_last(pattern: re.Pattern[str], text: str) -> int:
    return max((match.end() for match in pattern.finditer(text)), default=-1)


def _numbers(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield each figure that may count tokens, with the text before it and after it."""
    end = 0
    for match in _NUMBER.finditer(text):
        value = int(re.sub(r"[,_]", "", match[1])) * (1000 if match[2] else 1)
        after = text[match.end() : match.end() + 40]
        if SMALLEST <= value <= LARGEST:
            before = text[max(end, match.start() - 70) : match.start()]
            end = match.end()
            if not _FOREIGN_UNIT.search(after):
                yield value, before, after


MAX_TEXT: Final = 4_000
"""Characters of an error that are read."""
MAX_NODES: Final = 200
MAX_DEPTH: Final = 8
_NEVER: Final = frozenset({401, 402, 403, 404})
_COUNT_KEYS: Final = ("n_prompt_tokens", "n_tokens", "prompt_tokens", "input_tokens", "n_keep")
_LIMIT_KEYS: Final = (
    "n_ctx",
    "max_model_len",
    "context_length",
    "context_window",
    "max_context_length",
)

_ADDRESS: Final = re.compile(r"https?://\S{1,300}")
_SENTENCES: Final = re.compile(r"(?<=[.!?;])\s+|\n|[。！；]")
_CODE: Final = re.compile(
    r"context_?(?:length|window|size|limit)_?(?:is_)?exceeded|exceed(?:s|ed)?_(?:the_)?context"
    r"|prompt_(?:is_)?too_long|input_(?:is_)?too_long|tokens?_limits?_reached|request_too_large"
    r"|contextwindowexceeded|contextlengthexceeded|max_context|context_overflow"
)
_RATE: Final = re.compile(
    r"per[\s-]{0,2}(?:minute|min|day|hour|second|month)\b|rate[\s_-]?limit|\b[tr]p[mdhs]\b"
    r"|\bquota|throttl|credits?\b|billing|balance|afford|\bwait\b|slow down|overloaded"
    r"|too many requests|try again (?:later|in \d)|retry after|subscription|upgrade"
    r"|限流|配额|余额|频率|速率|欠费|レート制限|クォータ"
)
_MEDIA: Final = re.compile(
    r"\b(?:images?|pictures?|photos?|pixels?|audio|video|pdf|pages|files?)\b"
)
_PATH: Final = re.compile(r"\b[a-z_]+(?:\[\d+\]|\.\w+)(?:\[\d+\]|\.\w+)*")
_TEXT_FIELDS: Final = frozenset(
    {"content", "text", "input", "inputs", "prompt", "messages", "parts"}
)
_FIELD: Final = re.compile(
    r"invalid '(?!messages|input|prompt|content)\w+'|input_schema|tool_use_id"
    r"|\binput should (?:be|have)\b"
)

_SUBJECT: Final = re.compile(
    r"\bprompts?\b|\binputs?\b|\bcontext|\bmessages?\b|\bconversation|\bhistory\b|\bsequence\b|\bn_ctx"
    r"|\bn_keep|input_|prompt_|context_|max_model_len|model length|total (?:number of )?tokens"
    r"|tokens in (?:the |your )?request"
    r"|total length|上下文|输入|提示|对话|コンテキスト|入力|プロンプト|컨텍스트|입력|프롬프트"
    r"|kontext|eingabe|contexte|\binvite\b|\bentrée|contexto|entrada|контекст|ввод|запрос"
)
_REQUEST: Final = re.compile(
    r"\b(?:request|body|payload|content|text|string|model)\b|\btokens?\b|\blength\b|令牌|トークン|토큰"
)
_SIZE: Final = re.compile(r"token|length|size|令牌|トークン|토큰")
_ANSWER: Final = re.compile(
    r"max(?:imum)?[\s_](?:new_|completion_|output_)?tokens|\bcompletion|\boutput|\bgenerat|输出|出力"
)
_EXCESS: Final = re.compile(
    r"exceed|too (?:long|large|big|many)|(?:long|great|larg|bigg|high)er than|more than|overflow"
    r"|\bover the\b|\babove\b|beyond|surpass|out of room|must be (?:<=|less|at most|below|under)"
    r"|must have less|should be less|not enough|insufficient|(?:does not|doesn't|cannot|can't) fit"
    r"|reduce|decrease|shorten|shorter|truncate|range of .{0,40} should be|expected maxlength"
    r"|limits? (?:is |was )?reached|\d\s*(?:>|>=)\s*\w|\)\s*(?:>|>=)\s*\w"
    r"|超过|超出|超限|超长|过长|太长|超え|長すぎ|超過|초과|너무 길"
    r"|überschrei|zu lang|zu groß|dépass|trop long|excede|demasiado larg|muito long|supera"
    r"|превыш|слишком длин"
)


class _Error(Struct, frozen=True):
    """The content of an error response: its texts as one in small letters without addresses, and
    the figures of its fields or of its text."""

    text: str
    figures: RequestFigures


def context_too_long(
    reason: str, status: int | None, body: object, text: str = "", request_id: str = ""
) -> ContextTooLong | None:
    """Return the error to raise if a server refused a request because it is too long, None for any
    other error.

    `status` is None for an error inside of an answer; `body` is the parsed response or event (any
    JSON value, also None), `text` a body that is no JSON, or the exception's own text. The error's
    `tokens` are those of the prompt and its `limit` is the window, where they are named.
    """
    error = _read(body, text)
    if not _is_too_long(status, error):
        return None
    found = error.figures
    return ContextTooLong(
        reason,
        found.tokens,
        found.limit,
        excess=found.excess,
        status=status,
        request_id=request_id,
    )


# --- the decision -------------------------------------------------------------------------------


def _is_too_long(status: int | None, error: _Error) -> bool:
    if status in _NEVER:
        return False
    text, figures = error.text, error.figures
    if _CODE.search(text):
        return not (_RATE.search(text) and "request_too_large" in text)
    if _RATE.search(text):
        return False
    sentences = [s for s in _SENTENCES.split(text) if not _is_of_a_part(s)]
    if any(_SUBJECT.search(s) and _EXCESS.search(s) for s in sentences):
        return True
    if (figures.tokens or 0) > (figures.limit or LARGEST) and _SUBJECT.search(text):
        return True
    if status == 429 or _ANSWER.search(text):
        return False
    if status == 413:
        return not _MEDIA.search(text)
    return any(_REQUEST.search(s) and _EXCESS.search(s) and _SIZE.search(s) for s in sentences)


def _is_of_a_part(sentence: str) -> bool:
    """Return True if a sentence speaks of a picture, or of one field that holds no text."""
    if _MEDIA.search(sentence) and not re.search(r"\btoken|\bcontext", sentence):
        return True
    if _FIELD.search(sentence):
        return True
    for path in _PATH.findall(sentence):
        names = [name for name in re.split(r"[.\[\]]+", path) if name and not name.isdigit()]
        if (
            names
            and len(path) > len(names[0])
            and names[0] in ("messages", "tools", "contents", "body")
        ):
            return names[-1] not in _TEXT_FIELDS
    return False


# --- reading ------------------------------------------------------------------------------------


def _read(body: object, text: str) -> _Error:
    """Collect the texts and figures of an error, also of one that is encoded within another."""
    texts = [text]
    figures: dict[str, int] = {}
    nodes: list[tuple[str, object, int]] = [("", body, 0)]
    for _ in range(MAX_NODES):
        if not nodes:
            break
        key, node, depth = nodes.pop(0)
        if isinstance(node, str):
            inner = _decoded(node) if depth < MAX_DEPTH else None
            if inner is None and not node.strip().isdigit():
                texts.append(node)
            elif inner is not None:
                nodes.append((key, inner, depth + 1))
        elif isinstance(node, int) and not isinstance(node, bool):
            figures.setdefault(key, node)
        elif depth < MAX_DEPTH and isinstance(node, Mapping):
            repeated = "input" if "loc" in node else ""  # a part of the request
            entries = [(k, v) for k, v in list(node.items())[:50] if k != repeated]
            nodes += [(str(k).lower(), v, depth + 1) for k, v in entries]
        elif depth < MAX_DEPTH and isinstance(node, list):
            nodes += [(key, v, depth + 1) for v in node[:20]]
    whole = "\n".join(part for part in texts if part)[:MAX_TEXT].lower().replace("`", "")
    whole = _ADDRESS.sub(" ", whole)
    tokens, limit = _first(figures, _COUNT_KEYS), _first(figures, _LIMIT_KEYS)
    return _Error(whole, RequestFigures(tokens, limit) if tokens and limit else figures_in(whole))


def _first(figures: Mapping[str, int], keys: Sequence[str]) -> int | None:
    return next((figures[key] for key in keys if 0 < figures.get(key, 0) <= LARGEST), None)


def _decoded(text: str) -> object:
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        return from_json(text)
    except ValueError:
        return None
