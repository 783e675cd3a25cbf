"""The scripted conversation in the terminal: written, decided, received, shown."""

from collections.abc import Sequence
from typing import Final

from rich.console import Console, Group, RenderableType
from rich.markup import escape
from rich.padding import Padding
from rich.panel import Panel
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from gateway.policy.decision import Decision
from gateway.stores import Trace
from parley.demo.player import Outcome
from parley.demo.view import BACKGROUND, readable_body
from parley.demo.world import DIRECT, TITLES, Seen
from simulators.base import ApiCall

COLOURS: Final = {
    "discord": "#5865f2",
    "slack": "#c0417d",
    "telegram": "#2aabee",
    "whatsapp": "#1fa855",
}
MAX_LINES: Final = 16
MAX_WIDTH: Final = 110
MAX_TRACES: Final = 3
TEXT_FIELDS: Final = ("content", "text", "body")


def show_outcome(console: Console, outcome: Outcome, assistant: str) -> None:
    """One scene."""
    scene, platform = outcome.scene, outcome.where.platform
    colour = COLOURS.get(platform, "white")
    console.print()
    console.print(Rule(f"[bold {colour}]{TITLES[platform]}[/]  {_room(outcome)}", align="left"))
    console.print(f"[dim]{escape(scene.about)}[/dim]")
    console.print()
    console.print(_line(scene.where.person, Text(_action(outcome, assistant))))
    for trace in outcome.traces[-MAX_TRACES:]:
        console.print(_line("gateway", _decisions(trace), style="dim"))
    for call in telling_calls(outcome.calls):
        console.print(_line(platform, _request(call), style=colour))
    for answer in outcome.answers[-2:]:
        panel = Panel(_content(answer), title=f"{assistant} as shown", title_align="left")
        console.print(Padding(panel, (0, 0, 0, 11)))
    if not outcome.ok:
        console.print(f"[bold red]This was to be {scene.expect.value}, and is not.[/]")


def show_summary(console: Console, outcomes: Sequence[Outcome]) -> None:
    """What every platform took and gave."""
    table = Table(title="Four platforms, one gateway", title_justify="left", expand=False)
    for column in ("Platform", "Scenes", "As expected", "Answers shown", "Median wait"):
        table.add_column(column, justify="left" if column == "Platform" else "right")
    for platform, title in TITLES.items():
        mine = [one for one in outcomes if one.where.platform == platform]
        if not mine:
            continue
        waits = sorted(one.seconds for one in mine)
        table.add_row(
            f"[{COLOURS[platform]}]{title}[/]",
            str(len(mine)),
            str(sum(one.ok for one in mine)),
            str(sum(len(one.answers) for one in mine)),
            f"{waits[len(waits) // 2] * 1000:,.0f} ms",
        )
    console.print()
    console.print(table)


def telling_calls(calls: Sequence[ApiCall]) -> list[ApiCall]:
    """The requests worth showing: one of each kind that carries text, the last ones."""
    telling = [call for call in calls if call.method not in BACKGROUND and _texts(call)]
    return telling[-2:]


def _room(outcome: Outcome) -> str:
    where = outcome.where
    if where.room == DIRECT:
        return f"direct message, {where.person}"
    top, _, thread = where.room.partition("/")
    place = f"#{top}"
    return f"{place}, in a thread" if thread or where.thread else place


def _action(outcome: Outcome, assistant: str) -> str:
    scene = outcome.scene
    if scene.command:
        return f"/{scene.command}"
    if scene.press:
        return f"presses [{scene.press}]"
    text = scene.text.format(number=1)
    text = f"@{assistant} {text}" if scene.mention else text
    if scene.times > 1:
        return f"{text} … and {scene.times - 1} more, at once"
    if scene.deliveries > 1:
        return f"{text}  (delivered {scene.deliveries} times)"
    return text


def _line(who: str, content: RenderableType, style: str = "bold") -> Table:
    grid = Table.grid(padding=(0, 1))
    grid.add_column(width=10, justify="right", style=style)
    grid.add_column(overflow="fold")
    grid.add_row(who, content)
    return grid


def _decisions(trace: Trace) -> Text:
    text = Text()
    for decision in trace.decisions:
        text.append("✓ " if decision.allowed else "✗ ", "green" if decision.allowed else "red")
        text.append(_told(decision))
        text.append("  ")
    text.append(f"→ {trace.outcome} in {trace.milliseconds:.0f} ms", "bold")
    return text


def _told(decision: Decision) -> str:
    detail = f" ({decision.detail})" if decision.detail else ""
    return f"{decision.stage}: {decision.reason}{detail}"


def _request(call: ApiCall) -> Group:
    head = Text(f"{call.method} → {call.status}", "bold")
    blocks = call.body.get("blocks")
    told = readable_body({"blocks": blocks}) if blocks else "\n".join(_texts(call))
    return Group(head, Text(clip(told), "dim"))


def _texts(call: ApiCall) -> list[str]:
    """The texts that people will read, wherever the platform's request has them."""
    found = [
        str(call.body[field]) for field in TEXT_FIELDS if isinstance(call.body.get(field), str)
    ]
    for nested in ("text", "interactive", "data"):
        inner = call.body.get(nested)
        if isinstance(inner, dict):
            found += [str(inner[f]) for f in TEXT_FIELDS if isinstance(inner.get(f), str)]
            body = inner.get("body")
            if isinstance(body, dict) and isinstance(body.get("text"), str):
                found.append(str(body["text"]))
    return found


def _content(answer: Seen) -> Text:
    text = Text(clip(answer.shown.text))
    if answer.shown.buttons:
        labels = "  ".join(f"[{button.label}]" for button in answer.shown.buttons)
        text.append(f"\n{labels}", "bold")
    return text


def clip(text: str) -> str:
    """At most `MAX_LINES` lines of at most `MAX_WIDTH` characters, with a note of the rest."""
    lines = text.rstrip().splitlines()
    kept = [
        line if len(line) <= MAX_WIDTH else line[: MAX_WIDTH - 1] + "…"
        for line in lines[:MAX_LINES]
    ]
    if len(lines) > MAX_LINES:
        kept.append(f"… {len(lines) - MAX_LINES} more lines")
    return "\n".join(kept)
