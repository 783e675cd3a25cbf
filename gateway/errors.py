"""The exceptions of the whole program, as one tree.

ParleyError
├── ConfigurationError        a setting is wrong; has its place and advice
│   └── LibraryMissing        it needs libraries that are not installed; also a BadInput
├── StartError                an adapter cannot connect; has the reason and advice
├── DeliveryError             a send did not succeed
│   ├── Transient             try again, not before `retry_after` seconds
│   │   └── Busy              the chat has no capacity for an optional request
│   ├── Permanent             will never succeed
│   │   ├── WindowClosed      the person wrote too long ago: only a template may be sent
│   │   │   └── TemplateRefused   the platform does not take that template
│   │   └── AddressGone       the thread or the message that is replied to is gone
│   ├── FormatRejected        the platform refused the markup: send the plain text instead
│   └── Ambiguous             the request has no response: it may have been delivered
│       └── PlatformFailed    the platform failed during the request: it may have been delivered
├── ModelError                the language model did not answer
│   ├── ModelUnavailable      overloaded, unreachable, timed out: another one may answer
│   │   ├── NoFirstToken      nothing of the answer arrived within the time limit
│   │   └── AnswerStalled     the answer began, and nothing more arrived within the time limit
│   ├── ModelRefused          credentials, request or policy: a retry cannot help
│   └── ContextTooLong        the conversation does not fit the model's window
├── ToolError                 a tool failed; its text goes back to the model
├── TenantUnknown             the tenant cannot be determined
├── TakenOver                 an operator answers the conversation: the turn was not stored
└── BadInput                  the input is invalid; has its place and the reason
    ├── UsageError            the same for the command line and programs, in English
    ├── NotFound              the named thing does not exist, or is not accessible
    └── MemoryUnavailable     a memory backend did not do what was asked

`StoreUnavailable`, from `db.errors`, is raised by every store: the database, or Redis, did not run
the work, and no part of it is stored.

Adapters and providers raise; only the core decides whether to try again.
"""

from collections.abc import Sequence
from typing import Final

from db.errors import REDIS
from db.errors import StoreUnavailable as StoreUnavailable  # noqa: PLC0414 - a part of this tree
from gateway.text import (
    NO_TEXT,
    Text,
    Unconverted,
    as_text,
    joined,
    text,
    verbatim,
)

_NOTHING_STORED: Final = text("Parley cannot store anything at this moment.")
_FULL: Final = text(
    "The disk of the database ({store}) is full: nothing can be stored until an operator frees "
    "space there."
)
_NO_REDIS: Final = text("{store}, the store of waiting messages and answers, does not answer.")
_NO_DATABASE: Final = text("{store}, the database, does not answer.")


def store_notice(error: StoreUnavailable) -> Text:
    """Return the sentence for people who use a page or an interface: which store failed, without
    its address."""
    if not error.store:
        return _NOTHING_STORED
    said = _FULL if error.full else _NO_REDIS if error.store == REDIS else _NO_DATABASE
    return said.of(store=verbatim(error.store))


class ParleyError(Exception):
    """The base class of all errors of this program."""


class ConfigurationError(ParleyError):
    """A setting is wrong. The text names its path and what to write instead."""


class StartError(ParleyError):
    """An adapter cannot connect.

    `said` is the problem and `step` one sentence for the operator, as sentences of the catalogues
    where the adapter has them; `permanent` is true if another attempt with the same settings cannot
    succeed (a revoked token, a missing intent).
    """

    def __init__(
        self, problem: Unconverted, advice: Unconverted = "", *, permanent: bool = False
    ) -> None:
        super().__init__(" ".join(str(part) for part in (problem, advice) if part))
        self.said = problem
        self.step = advice
        self.permanent = permanent

    @property
    def problem(self) -> str:
        """The problem in English."""
        return str(self.said)

    @property
    def advice(self) -> str:
        """The next step in English."""
        return str(self.step)

    @property
    def sentences(self) -> Text:
        """The problem with its next step."""
        return joined((as_text(part) for part in (self.said, self.step) if part), " ")


class DeliveryError(ParleyError):
    """A send did not succeed. `said` is the reason, as a sentence of the catalogues where the
    program knows it; the words of a platform stay as they are."""

    retry_after: float | None = None
    """Seconds for which the platform wants no other attempt; None if it names no time."""

    def __init__(self, reason: Unconverted = "") -> None:
        super().__init__(str(reason))
        self.said = as_text(reason)


class Transient(DeliveryError):
    """The send failed and delivered no part. Another attempt may succeed, not before `retry_after`
    seconds, in any chat of the account if `whole_account` is set."""

    def __init__(
        self,
        reason: Unconverted,
        retry_after: float | None = None,
        *,
        whole_account: bool = False,
    ) -> None:
        super().__init__(reason)
        self.retry_after = retry_after
        self.whole_account = whole_account


class Busy(Transient):
    """The chat has no capacity at this moment for an optional request: live text."""


class Permanent(DeliveryError):
    """The send failed and delivered no part. The same attempt never succeeds."""


class WindowClosed(Permanent):
    """The person wrote too long ago: the platform takes a prepared template only."""


class TemplateRefused(WindowClosed):
    """The platform does not take the prepared template: it does not exist, is paused, or has other
    variables."""


class AddressGone(Permanent):
    """The target of a send was deleted or closed: the thread of its place if `thread` is set,
    otherwise the message that it replies to. The same send without it may succeed."""

    def __init__(self, reason: Unconverted, *, thread: bool = False) -> None:
        super().__init__(reason)
        self.thread = thread


class FormatRejected(DeliveryError):
    """The platform refused the markup of the part, not its text."""


class Ambiguous(DeliveryError):
    """The request was sent and no response came back: it may have been delivered."""


class PlatformFailed(Ambiguous):
    """The platform answered with an error of its own, such as a status from 500 on: it may have
    been delivered, but probably was not."""

    def __init__(self, reason: Unconverted, retry_after: float | None = None) -> None:
        super().__init__(reason)
        self.retry_after = retry_after


def said_of(error: ParleyError) -> Text:
    """Return an error as a text: a sentence of the catalogues where it has one."""
    if isinstance(error, StartError):
        return error.sentences
    if isinstance(error, DeliveryError):
        return error.said
    return error.text if isinstance(error, BadInput) else verbatim(str(error))


class ModelError(ParleyError):
    """The language model gave no answer.

    `status` is the status of the HTTP response, None without a response. `request_id` is the
    service's name for the request, "" if it gave none. The reason is a text of the service: it is
    for the operator, never for the room.
    """

    def __init__(self, reason: str, *, status: int | None = None, request_id: str = "") -> None:
        super().__init__(reason)
        self.status = status
        self.request_id = request_id


class ModelUnavailable(ModelError):
    """Overloaded, unreachable or too slow; `retry_after` in seconds if the service said so.

    `passes` is false for an error that a retry is unlikely to solve: a fault of the provider.
    """

    def __init__(
        self,
        reason: str,
        retry_after: float | None = None,
        *,
        passes: bool = True,
        status: int | None = None,
        request_id: str = "",
    ) -> None:
        super().__init__(reason, status=status, request_id=request_id)
        self.retry_after = retry_after
        self.passes = passes


class NoFirstToken(ModelUnavailable):
    """The time limit ended before any part of the answer arrived. The same request is not sent to
    the same model again: it would read the whole prompt anew."""


class AnswerStalled(ModelUnavailable):
    """The answer began, and nothing more of it arrived within the time limit."""


class ModelRefused(ModelError):
    """The service refused the request; the same request is refused again."""


class ContextTooLong(ModelError):
    """The request is larger than the model's window.

    In tokens, if the service said so: `tokens` of the prompt, `limit` of the window, and the
    `excess` of the prompt.
    """

    def __init__(
        self,
        reason: str,
        tokens: int | None = None,
        limit: int | None = None,
        *,
        excess: int | None = None,
        status: int | None = None,
        request_id: str = "",
    ) -> None:
        super().__init__(reason, status=status, request_id=request_id)
        self.tokens = tokens
        self.limit = limit
        self.excess = excess


class ToolError(ParleyError):
    """A tool failed; the text is shown to the model, never to the room."""


class TenantUnknown(ParleyError):
    """The tenant provider failed, or returned an invalid tenant. The request is refused."""


class TakenOver(ParleyError):
    """An operator answers the conversation since the turn began; nothing of the turn was stored."""


class BadInput(ParleyError):
    """Input cannot be used; the text says what is wrong, and where.

    `code` names the case for programs: `gateway.ports.error_codes` says how each face answers it.
    `where` is the wrong part of a request, such as `body.text`; empty if the text says it. `text`
    is for people, each in their language; the error as a `str` is the English one.
    """

    code = "refused"

    def __init__(self, text: Unconverted = NO_TEXT, *, code: str = "", where: str = "") -> None:
        super().__init__(str(text))
        # Extensions of others may give English words.
        self.text: Text = verbatim(text) if isinstance(text, str) else text
        self.code = code or self.code
        self.where = where


class UsageError(BadInput):
    """Input of the command line, of a program or of an agent cannot be used; English words for
    whoever wrote it."""

    def __init__(self, words: str, *, code: str = "", where: str = "") -> None:
        super().__init__(verbatim(words), code=code, where=where)


class NotFound(BadInput):
    """The named thing does not exist, or is not accessible to the person: the error does not tell
    which."""

    code = "not_found"


class MemoryUnavailable(BadInput):
    """A memory backend of another package did not do what was asked; the text is for the person."""

    code = "memory_unavailable"


class LibraryMissing(ConfigurationError, BadInput):
    """A setting or an input needs libraries that are not installed.

    `libraries` are their modules. `extra` is the extra of the distribution that installs them, or
    the library itself if every installation has it: the program adds the command for it.
    """

    def __init__(self, place: str, libraries: Sequence[str], extra: str) -> None:
        many = len(libraries) > 1
        named = f"the librar{'ies' if many else 'y'} {' and '.join(libraries)}"
        self.problem = f"needs {named}, which {'are' if many else 'is'} not installed."
        self.libraries = tuple(libraries)
        self.extra = extra
        super().__init__(verbatim(f"{place}: {self.problem}"))
