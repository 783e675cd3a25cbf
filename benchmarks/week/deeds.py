"""The deeds of the week: statements, questions, commands and presses, with what they should do."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from memory.model.record import Kind

Result = Literal["kept", "replaced", "kept both", "asked", "known", "refused"]
"""What became of a statement: stored; stored in place of an older one; stored beside one that it
may contradict; waiting for its person; stored before; not stored."""
Person = Literal["ada", "ben"]
Where = Literal["direct", "room", "web"]


@dataclass(frozen=True)
class Says:
    """A statement that the model stores as the person's quoted words. `becomes` are the results
    that are right. `content`: the model stores this, without a quotation. `pasted` is a text of
    others in the same message, which the model stores. `command`: the person uses `/remember`, and
    the model does nothing."""

    who: Person
    text: str
    becomes: tuple[Result, ...]
    where: Where = "direct"
    kind: Kind = Kind.FACT
    content: str = ""
    pasted: str = ""
    command: bool = False
    names: str = ""
    """Words of the memory whose id the model names as replaced."""
    language: str = "en"


@dataclass(frozen=True)
class Asks:
    """A question. The model should read the words `finds`, and none of `never`. `by_time`: only the
    time that it names leads to them."""

    who: Person
    text: str
    finds: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    where: Where = "direct"
    by_time: bool = False


@dataclass(frozen=True)
class Uses:
    """A command. Its answer should have the words `shows` and none of `never`."""

    who: Person
    name: str
    arguments: str = ""
    where: Where = "direct"
    shows: tuple[str, ...] = ()
    never: tuple[str, ...] = ()


@dataclass(frozen=True)
class Presses:
    """A press of the newest button whose label begins so. `deletes` are words of the memories that
    it deletes; `erases`: nothing holds these words any more."""

    who: Person
    label: str
    where: Where = "direct"
    deletes: tuple[str, ...] = ()
    erases: bool = False


Deed: TypeAlias = Says | Asks | Uses | Presses
