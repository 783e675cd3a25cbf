"""The declaration of a view or an action of the console: one value for its page, its entry in the
API and its rule of access."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Final, Generic, Literal, TypeAlias, TypeVar, get_type_hints

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from gateway.policy.decision import Decision
from gateway.ports.action import Input, Output
from gateway.ports.rights import Allowed, Credential, missing
from gateway.text import Text
from memory.actions.call import MAX_ID
from parley.console.services import ConsoleServices
from parley.console.viewer import Viewer
from parley.http.api.errors import CallRefused

STAGE: Final = "console_access"
READERS: Final = (Credential.SESSION, Credential.TOKEN)
"""The credentials with which a view can be opened; its action may take fewer."""


class ItemParams(Input):
    """Parameters of a route with `{id}` in its path."""

    id: SkipJsonSchema[Annotated[str, Field(max_length=MAX_ID)]] = ""
    """The id in the path. It is no parameter of its own."""


class Done(Output):
    """The result of an action without one of its own. `query` is added to the page after it, and is
    no part of the API."""

    done: Literal[True] = True
    """Always true."""
    query: SkipJsonSchema[str] = Field(default="", exclude=True)


class File(Output):
    """A result that the page offers as a download, such as CSV."""

    name: str
    """The name for the download."""
    content_type: str
    """The value of the header `Content-Type`."""
    content: str
    """The text of the file."""


@dataclass
class RefusedWithResult(CallRefused):
    """A refused action whose page shows `result`, so that nothing of the viewer's input is lost.
    The API answers it as every refusal."""

    result: Output = field(default_factory=Output)


P = TypeVar("P", bound=Input)
R = TypeVar("R", bound=Output)


@dataclass(frozen=True, slots=True)
class ConsoleRoute(Generic[P, R]):
    """A view (GET) or an action (POST).

    `name` is unique: the id of the operation in the API is `console_NAME`. `path` is below
    `/console` and below `/api/v1/console`, and may contain `{id}`. `run` serves both; its
    annotations are what it takes, unless `form` narrows that, and what it returns. `allowed` are
    the credentials and the role that it needs: an action needs a person who is signed in. A GET has
    a `template`, unless its result is a `File`; `menu` puts it into the navigation and the command
    palette, `palette` into the latter only. An action has `done`, the sentence for people, and
    `then`, the path that the page shows after it, also with `{id}`; with a `template`, htmx shows
    that fragment instead. `example` are parameters with which tests call the route.
    """

    name: str
    method: Literal["GET", "POST"]
    """The HTTP method."""
    path: str
    allowed: Allowed
    summary: Text | str
    """One sentence for the description of the API; a `Text` where the palette shows it too."""
    run: Callable[[Viewer, ConsoleServices, P], Awaitable[R]]
    template: str = ""
    menu: Text | None = None
    palette: Text | None = None
    done: Text | None = None
    then: str = ""
    example: Mapping[str, str] = field(default_factory=dict)
    form: type[P] | None = None
    params: type[P] = field(init=False)
    """The model of the parameters."""
    result: type[R] = field(init=False)

    def __post_init__(self) -> None:
        hints = get_type_hints(self.run)
        _, _, params, result = hints.values()
        object.__setattr__(self, "params", self.form or params)
        object.__setattr__(self, "result", result)
        if not isinstance(self.allowed, Allowed):
            raise TypeError(f"{self.name}: a route declares who may use it")
        if self.method == "POST" and self.allowed.by != {Credential.SESSION}:
            raise TypeError(f"{self.name}: an action takes the session of a person, and no token")
        if "{id}" in self.path and not issubclass(self.params, ItemParams):
            raise TypeError(f"{self.name}: parameters with `{{id}}` are ItemParams")
        if self.method == "POST" and not (self.template or (self.done and self.then)):
            raise TypeError(f"{self.name}: an action needs `template`, or `done` and `then`")
        if self.method == "GET" and not (self.template or issubclass(self.result, File)):
            raise TypeError(f"{self.name}: a view needs a template")


AnyRoute: TypeAlias = ConsoleRoute[Any, Any]


def may_use(viewer: Viewer, route: AnyRoute) -> Decision:
    """Decide if this viewer may use a route."""
    needed = missing(route.allowed, viewer.proof)
    return Decision(STAGE, not needed, f"needs_{needed}" if needed else viewer.role.value)
