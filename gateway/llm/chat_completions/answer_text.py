"""Separates the text for people from what a server left in it: reasoning, the markup of tool calls
and the tokens of a chat template.

It works on a stream: it holds back at most `markup.LONGEST` characters that can be the beginning of
a mark, and what follows an opening mark. Code is content: a mark inside of it counts as text.
"""

import re
from collections.abc import Mapping
from typing import Final, Literal

from msgspec import Struct

from gateway.llm.chat_completions import markup
from gateway.llm.chat_completions.markup import MarkedSection
from gateway.llm.chat_completions.written_calls import Written, calls_in, is_data, only_calls
from gateway.ports import ToolSpec

MAX_TEXT: Final = 1_000_000
"""Characters of an answer with its hidden parts; the rest is dropped."""
MAX_HEADER: Final = 200
"""Characters between the tokens of a channel and its message."""
MAX_BLANKS: Final = 200
"""Blank characters before the content of a tool call."""
MAX_LEAD: Final = 80
"""Characters by which an answer that begins as JSON shows that it can be a tool call."""
NEAR: Final = 24
"""Characters before a mark that decide what it is."""
_TRIGGER: Final = re.compile(r"[`~◁]|<(?=[|/｜A-Za-z]|\Z)|\[(?=[/A-Za-z]|\Z)")
_WORD: Final = re.compile(r"\S")
_RUN: Final = re.compile(r"`{1,40}|~{1,40}")
_INDENT: Final = re.compile(r"\n[ \t>*+\-0-9.]{0,12}\Z")
_JSON_LEAD: Final = re.compile(r"(?:```\w{0,10}\s{0,4})?(?:\[\s{0,8})?\{\s{0,8}\"(\w{1,30})\"")
_JSON_BEGINS: Final = re.compile(
    r"`{0,3}|```\w{0,10}\s{0,4}(?:\[\s{0,8})?(?:\{\s{0,8}(?:\"\w{0,30})?)?"
    r"|(?:\[\s{0,8})?(?:\{\s{0,8}(?:\"\w{0,30})?)?|\[[A-Za-z_][A-Za-z0-9_.-]{0,63}"
)
_CALL_KEYS: Final = frozenset(
    ("name", "function", "tool", "tool_name", "tool_call", "tool_calls", "type", "id", "action",
     "arguments", "parameters", "function_call", "recipient_name")
)  # fmt: skip
_SPOKEN: Final = re.compile(r"analysis(?=[A-Z\"'])")
_RECIPIENT: Final = re.compile(r"to=(?:functions[.:])?([A-Za-z0-9_.:-]{1,64})")
_CHANNEL_WORDS: Final = re.compile(r"(?:assistant|final|commentary|[\s:])+", re.IGNORECASE)
_BARE: Final = re.compile(r"\n[ \t]{0,3}\Z")
_IN_CALLS: Final = (
    "<function=",
    "<invoke",
    "<arg_",
    "<tool_call",
    "<｜",
    "<parameter",
    "<name>",
    "</function>",
    "</invoke>",
)
_WHOLE: Final = MarkedSection("calls", "anywhere", re.compile(r"(?!)"))
"""An answer that can be a tool call as a whole: it ends with the answer."""

Code = Literal["", "line", "fence"]


class _OpenSection(Struct):
    """A section that was begun, with its text so far. `at_start`: no visible text precedes it.
    `name` is the tool that is called, if it stands outside of the text."""

    section: MarkedSection
    opening: str
    at_start: bool
    pieces: list[str]
    name: str = ""

    @property
    def text(self) -> str:
        return "".join(self.pieces)


class AnswerText:
    """The text of one answer.

    `tools` are those that the model may call, by name. `asked` is the person's text: a mark that it
    mentions can be meant literally. `hold` characters are kept back until it is known if they are
    reasoning whose opening mark is in the server's prompt; 0 for none. `headless` servers were seen
    to begin every answer so: there all of it is kept back.
    """

    def __init__(
        self, tools: Mapping[str, ToolSpec], asked: str, hold: int, *, headless: bool = False
    ) -> None:
        self._tools = tools
        self._asked = asked.lower()
        self._hold = MAX_TEXT if headless else hold
        self._expected = headless
        self._held: list[str] = []
        self._held_size = 0
        self._buffer = ""
        self._at = 0
        self._open: _OpenSection | None = None
        self._code: Code = ""
        self._fence = ""
        self._before = "\n"
        self._blank = True
        self._shown: list[str] = []
        self._size = 0
        self._literal: set[str] = set()
        self._over = False
        self.calls: list[Written] = []
        self.removed: list[str] = []
        """The markup of tool calls."""
        self.reasoned = False
        """The text has reasoning in it."""
        self.headless = False
        """The reasoning began in the prompt: the text has only its closing mark."""

    @property
    def visible(self) -> str:
        """All text for people so far, with what is held back."""
        return "".join(self._shown)

    def release(self) -> str:
        """Return what is held back, and hold nothing from now on: this server sends reasoning in
        another way."""
        self._hold, self._expected = 0, False
        held, self._held = "".join(self._held), []
        return held

    def feed(self, text: str) -> str:
        """Add a piece; return the text that people may see now."""
        self._size += len(text)
        if self._over or self._size > MAX_TEXT:
            self._over = True
            return ""
        if self._is_plain(text):
            return self._show(text)
        self._buffer += text
        return self._work(last=False)

    def end(self, *, cut: bool) -> str:
        """Return the rest at the end of the answer; `cut` if the answer is not complete."""
        rest = self._work(last=True)
        if (opened := self._open) is not None:
            self._open = None
            rest += self._unclosed(opened, cut=cut)
        if self._expected and cut:
            self._forget_shown()
            self.reasoned = True
            return ""
        return self.release() + rest

    # --- visible text ---------------------------------------------------------------------------

    def _is_plain(self, text: str) -> bool:
        special = self._buffer or self._open or self._code or self._blank
        return not (special or _TRIGGER.search(text))

    def _show(self, text: str) -> str:
        """Add visible text; return it, unless it is held back."""
        if not text:
            return ""
        self._shown.append(text)
        self._before = (self._before + text[-NEAR:])[-NEAR:]
        if self._blank and not text.isspace():
            self._blank = False
        if not self._hold:
            return text
        self._held.append(text)
        self._held_size += len(text)
        return self.release() if self._held_size > self._hold else ""

    def _forget_shown(self) -> None:
        """Hide the text so far: it was reasoning."""
        self._shown, self._held = [], []
        self._blank, self._before = True, "\n"
        self._code, self._fence = "", ""

    # --- the work -------------------------------------------------------------------------------

    def _work(self, *, last: bool) -> str:
        shown: list[str] = []
        while self._at < len(self._buffer) and not self._over:
            before = (self._at, self._open)
            shown.append(
                self._in_text(last) if self._open is None else self._in_section(self._open, last)
            )
            if (self._at, self._open) == before:
                break
        self._buffer, self._at = self._buffer[self._at :], 0
        return "".join(shown)

    def _in_text(self, last: bool) -> str:
        """Show the text up to the next place where it may not go on, or up to a section."""
        if self._blank and (waits := self._begin(last)) is not None:
            return waits
        place = _TRIGGER.search(self._buffer, self._at)
        at = place.start() if place else len(self._buffer)
        if at > self._at:
            return self._take(at - self._at)
        if self._buffer[at] in "`~":
            return self._backticks(last)
        if self._code:
            return self._take(1)
        if mark := markup.MARK.match(self._buffer, at):
            return self._mark(mark[0], last)
        rest = self._buffer[at : at + markup.LONGEST + 1]
        if not last and at + len(rest) == len(self._buffer) and markup.may_begin_mark(rest):
            return ""
        return self._take(1)

    def _take(self, length: int) -> str:
        """Show the next characters of the buffer."""
        text = self._buffer[self._at : self._at + length]
        self._at += length
        if self._code == "line" and "\n\n" in self._before[-1:] + text:
            self._code = ""
        return self._show(text)

    def _after(self, length: int, most: int = 1) -> str:
        """Return the characters that follow the next `length` ones."""
        return self._buffer[self._at + length : self._at + length + most]

    def _backticks(self, last: bool) -> str:
        """Follow the beginning and the end of code."""
        run = _RUN.match(self._buffer, self._at)
        if run is None:
            return self._take(1)
        marks = run[0]
        if run.end() == len(self._buffer) and not last and len(marks) < 40:
            return ""
        if self._code == "fence":
            if marks[0] == self._fence[0] and len(marks) >= len(self._fence) and self._begins_line:
                self._code = ""
        elif self._code == "line":
            self._code = "" if marks == self._fence else "line"
        elif len(marks) >= 3 and self._begins_line:
            self._code, self._fence = "fence", marks
        elif marks[0] == "`":
            self._code, self._fence = "line", marks
        return self._take(len(marks))

    @property
    def _begins_line(self) -> bool:
        return bool(_INDENT.search(self._before))

    def _is_written_about(self, mark: str, last: bool) -> bool | None:
        """Return True if a mark is a word of a sentence or of a list, as an answer about such marks
        has it; None if more text can tell. Servers leave no blank around a mark."""
        after = self._after(len(mark), 2)
        if len(after) < 2 and not last:
            return None
        return markup.in_sentence(self._before, after)

    # --- the beginning --------------------------------------------------------------------------

    def _begin(self, last: bool) -> str | None:
        """Handle the beginning of an answer; None if it has nothing special."""
        word = _WORD.search(self._buffer, self._at)
        if word is None:
            return None if last else ""
        indented = self._buffer[: word.start()].endswith(("    ", "\t"))  # code of Markdown
        if self.reasoned or self.calls or (word[0] in "<[◁" and not indented):
            self._at = word.start()
        text = self._buffer[word.start() : word.start() + MAX_LEAD + 1]
        if not last and len(text) < len("analysis") + 1 and "analysis".startswith(text[:8]):
            return ""
        if _SPOKEN.match(text):
            self._at = word.start() + len("analysis")
            self._open = _OpenSection(markup.SPOKEN, "analysis", True, [])
            return ""
        if self._tools and text[0] in "{[`":
            return self._begin_json(text, word.start(), last)
        return None

    def _begin_json(self, text: str, at: int, last: bool) -> str | None:
        lead = _JSON_LEAD.match(text)
        name = text[1:].partition("(")[0] if text[0] == "[" and "(" in text else ""
        if (lead and lead[1] in _CALL_KEYS) or name in self._tools:
            self._at = at
            self._open = _OpenSection(_WHOLE, "", True, [])
            return ""
        waits = not last and len(text) <= MAX_LEAD and _JSON_BEGINS.fullmatch(text)
        return "" if waits else None

    # --- marks ----------------------------------------------------------------------------------

    def _mark(self, mark: str, last: bool) -> str:
        """Handle a mark at this place."""
        small = mark.lower()
        if small in markup.CLOSING:
            return self._closing(mark, last)
        if small.startswith(("<function=", "<invoke ")):
            return self._opening(markup.NAMED, mark, last)
        if section := markup.SECTIONS.get(small):
            return self._opening(section, mark, last)
        return self._token(mark, last)

    def _opening(self, section: MarkedSection, mark: str, last: bool) -> str:
        small = mark.lower()
        about = self._is_written_about(mark, last)
        if about is None:
            return ""
        bare = bool(_BARE.search(self._before))
        if section.where == "line" and not (bare and (self._blank or section.anew)):
            about = True
        elif section.where == "line" and small not in self._asked:
            about = False
        if about or (section.optional and small in self._asked):
            self._literal.add(small)
            return self._take(len(mark))
        if section.where == "plausible" or section is markup.NAMED:
            rest = self._after(len(mark), MAX_BLANKS).lstrip()
            begins, can_begin = self._plausible(rest)
            if can_begin and not last and len(self._buffer) - self._at < MAX_BLANKS:
                return ""
            if not begins and (rest or not last):
                return self._take(len(mark))
        self._at += len(mark)
        pieces = [mark] if section is markup.NAMED else []
        self._open = _OpenSection(section, mark, self._blank, pieces)
        return self.release() if section.kind == "reasoning" and self._blank else ""

    def _plausible(self, rest: str) -> tuple[bool, bool]:
        """Return if the content of a tool call begins so, and if more text can tell."""
        if rest[:1] in ("{", "["):
            return True, False
        words = (*_IN_CALLS, *self._tools)
        return rest.startswith(words), any(w.startswith(rest) and w != rest for w in words)

    def _closing(self, mark: str, last: bool) -> str:
        """Handle a closing mark without its opening one: the text before it was reasoning."""
        small, after = mark.lower(), self._after(len(mark))
        if not after and not last:
            return ""
        if markup.CLOSING[small] in self._literal or self._is_literal(small, after):
            return self._take(len(mark))
        self._at += len(mark)
        self._forget_shown()
        self._hold, self._expected = 0, False
        self.reasoned = self.headless = True
        return ""

    def _is_literal(self, mark: str, after: str) -> bool:
        before = self._before[-1]
        if (
            before in markup.QUOTES
            or after in markup.QUOTES
            or (before == " " and after in markup.AFTER_WORD)
        ):
            return True
        return mark in self._asked and before != "\n" and after not in ("", "\n")

    def _token(self, mark: str, last: bool) -> str:
        """Remove a token of the template; the turn of somebody else behind it ends the answer."""
        turn = markup.TURN.fullmatch(mark)
        about = self._is_written_about(mark, last)
        if about is None:
            return ""
        if about or (mark.lower() in self._asked and not turn):
            return self._take(len(mark))
        if mark.lower() == "</s>":
            if _WORD.search(self._buffer, self._at + len(mark)) or "<s>" in self._before.lower():
                return self._take(len(mark))
            if not last:
                return ""
        if turn:
            if len(self._after(len(mark), 12)) < 12 and not last:
                return ""
            role, end = markup.role_after(self._buffer, self._at + len(mark))
            if role and self._buffer[end : end + 1] not in ("", "\n", "<", "|"):
                return self._take(len(mark))
            self._over = role in markup.OTHERS
            self._at = end
            return ""
        self._at += len(mark)
        return ""

    # --- sections -------------------------------------------------------------------------------

    def _in_section(self, opened: _OpenSection, last: bool) -> str:
        """Read on to the closing mark."""
        start = self._at
        while close := opened.section.close.search(self._buffer, start):
            if close.end() == len(self._buffer) and not last:
                return ""
            if not self._quoted(opened, close):
                break
            start = close.end()
        else:
            return self._read_on(opened, start, last)
        opened.pieces.append(self._buffer[self._at : close.start()])
        begins_next = close[0].lower() in markup.BEGINS_NEXT
        self._at = close.start() if begins_next else close.end()
        self._open = None
        match opened.section.kind:
            case "reasoning":
                self.reasoned = True
            case "header":
                self._channel(opened.text)
            case _:
                return self._add_calls(opened, "" if begins_next else close[0])
        return ""

    def _quoted(self, opened: _OpenSection, close: re.Match[str]) -> bool:
        """Return True if reasoning mentions its closing mark."""
        if opened.section.kind != "reasoning" or close.start() == self._at:
            return False
        after = self._buffer[close.end() : close.end() + 1]
        return self._buffer[close.start() - 1] in "`\"'" and after != "" and after in "`\"'"

    def _read_on(self, opened: _OpenSection, start: int, last: bool) -> str:
        """Read text without a closing mark, except for its end, which can begin one."""
        done = len(self._buffer) if last else max(len(self._buffer) - markup.LONGEST, start)
        opened.pieces.append(self._buffer[self._at : done])
        self._at = done
        if opened.section.kind == "header" and sum(map(len, opened.pieces)) > MAX_HEADER:
            self._open = None
            return self._show(_CHANNEL_WORDS.sub("", opened.text, 1))
        return ""

    def _channel(self, header: str) -> None:
        """Begin the message of a channel."""
        if recipient := _RECIPIENT.search(header):
            self._open = _OpenSection(markup.CHANNEL_CALL, "", self._blank, [], recipient[1])
        elif "analysis" in header or header.strip().lower().startswith(markup.OTHERS):
            self._open = _OpenSection(markup.CHANNEL, "", self._blank, [])
            self.reasoned = True

    def _add_calls(self, opened: _OpenSection, closing: str) -> str:
        """Take the calls of a section; return the section if it is none of calls."""
        text = opened.text
        calls = calls_in(text, self._tools, opened.name)
        whole = text if opened.section is markup.NAMED else f"{opened.opening}{text}"
        asked = opened.section.kind == "calls" and opened.opening.lower() in self._asked
        if closing and not calls and (asked or is_data(opened.opening, text)):
            return self._show(f"{whole}{closing}")
        self.calls.extend(calls)
        self.removed.append(f"{whole}{closing}")
        return ""

    def _unclosed(self, opened: _OpenSection, *, cut: bool) -> str:
        """Handle a section that the answer does not close."""
        section, text = opened.section, opened.text
        if section is _WHOLE:
            calls = only_calls(text, self._tools)
            self.calls.extend(calls)
            self.removed.extend([text] if calls else [])
            return "" if calls else self._show(text)
        if section.kind == "calls":
            return self._add_calls(opened, "")
        if section.kind == "header":
            return "" if "analysis" in text else self._show(_CHANNEL_WORDS.sub("", text, 1))
        literal = opened.opening.lower() in self._asked or not opened.at_start
        if not cut and (section is markup.SPOKEN or (section.where == "line" and literal)):
            return self._show(f"{opened.opening}{text}")
        self.reasoned = True
        return ""
