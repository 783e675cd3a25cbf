"""Shows the scripted conversation in the terminal: messages, decisions, requests, answers."""

from collections import Counter
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
from gateway.ports.traces import Trace
from parley.demo.player import SceneOutcome
from parley.demo.view import BACKGROUND, expanded_body, why_skipped
from parley.demo.world import DIRECT, TITLES, Seen
from simulators.base import ApiCall

COLOURS: Final = {
    "discord": "#5865f2",
    "slack": "#c0417d",
    "telegram": "#2aabee",
    "whatsapp": "#1fa855",
}
MAX_LINES: Final = 14
MAX_WIDTH: Final = 300
MAX_TRACES: Final = 2
INDENT: Final = 11
MAX_PANEL_LINES: Final = 9
TEXT_FIELDS: Final = ("content", "text", "body")


def show_outcome(console: Console, outcome: SceneOutcome, assistant: str) -> None:
    """Print one scene."""
    scene, platform = outcome.scene, outcome.where.platform
    colour = COLOURS.get(platform, "white")
    console.print()
    console.print(Rule(f"[bold {colour}]{TITLES[platform]}[/]  {_room(outcome)}", align="left"))
    console.print(f"[dim]{escape(scene.about)}[/dim]")
    console.print()
    console.print(_line(scene.where.person, Text(_action(outcome, assistant))))
    if len(outcome.traces) > MAX_TRACES:
        console.print(_line("gateway", Text(tally(outcome.traces), "bold"), style="dim"))
    for trace in outcome.traces[-MAX_TRACES:]:
        console.print(_line("gateway", _decisions(trace, console.width - INDENT), style="dim"))
    sent = shown_calls(outcome.calls)
    for call in sent:
        console.print(_line(platform, _request(call), style=colour))
    for answer in outcome.answers[-2:]:
        if not any(_same(answer, call) for call in sent):
            panel = Panel(_content(answer), title=f"{assistant}, as shown", title_align="left")
            console.print(Padding(panel, (0, 0, 0, INDENT)))
    if not outcome.ok:
        console.print(f"[bold red]Expected: {scene.expect.value}. The outcome was different.[/]")


def show_summary(console: Console, outcomes: Sequence[SceneOutcome]) -> None:
    """Print a table of the results by platform."""
    table = Table(title="Four platforms, one gateway", title_justify="left", expand=False)
    for column in ("Platform", "Scenes", "As expected", "Answers shown", "Median wait"):
        table.add_column(column, justify="left" if column == "Platform" else "right")
    for platform, title in TITLES.items():
        own_outcomes = [one for one in outcomes if one.where.platform == platform]
        if not own_outcomes:
            continue
        waits = sorted(one.seconds for one in own_outcomes)
        table.add_row(
            f"[{COLOURS[platform]}]{title}[/]",
            str(len(own_outcomes)),
            str(sum(one.ok for one in own_outcomes)),
            str(sum(len(one.answers) for one in own_outcomes)),
            f"{waits[len(waits) // 2] * 1000:,.0f} ms",
        )
    console.print()
    console.print(table)


def shown_calls(calls: Sequence[ApiCall]) -> list[ApiCall]:
    """The requests to show: the last two with text."""
    calls_with_text = [call for call in calls if call.method not in BACKGROUND and _texts(call)]
    return calls_with_text[-2:]


def tally(traces: Sequence[Trace]) -> str:
    """The number of each outcome: "2 answered, 3 refused:limits"."""
    counts = Counter(trace.outcome for trace in traces)
    return ", ".join(f"{number} {outcome}" for outcome, number in counts.most_common())


def _same(answer: Seen, call: ApiCall) -> bool:
    """True when the shown text equals the sent text and there are no buttons."""
    return not answer.shown.buttons and answer.shown.text.split() == "\n".join(_texts(call)).split()


def _room(outcome: SceneOutcome) -> str:
    where = outcome.where
    if where.room == DIRECT:
        return f"direct message, {where.person}"
    top, _, thread = where.room.partition("/")
    place = f"#{top}"
    return f"{place}, in a thread" if thread or where.thread else place


def _action(outcome: SceneOutcome, assistant: str) -> str:
    scene = outcome.scene
    if scene.command:
        return f"/{scene.command}"
    if scene.agent:
        return f"[an agent, over MCP] {scene.agent}"
    if scene.press:
        return f"presses [{scene.press}]"
    text = scene.text.format(number=1)
    text = f"@{assistant} {text}" if scene.mention else text
    if scene.times > 1:
        return f"{text} … and {scene.times - 1} more, at the same time"
    if scene.deliveries > 1:
        return f"{text}  (delivered {scene.deliveries} times)"
    if scene.voice:
        return "[a voice message]"
    return f"{text}  [{scene.file}]" if scene.file else text


def _line(author: str, content: RenderableType, style: str = "bold") -> Table:
    grid = Table.grid(padding=(0, 1))
    grid.add_column(width=INDENT - 1, justify="right", style=style)
    grid.add_column(overflow="fold")
    grid.add_row(author, content)
    return grid


def _decisions(trace: Trace, width: int) -> Text:
    """All decisions, with line breaks only between them."""
    chips = [Text.assemble(_mark(d), _describe(d)) for d in trace.decisions]
    chips.append(Text(f"→ {trace.outcome} in {trace.milliseconds:.0f} ms", "bold"))
    lines = [Text()]
    for chip in chips:
        if lines[-1] and lines[-1].cell_len + 2 + chip.cell_len > width:
            lines.append(Text())
        lines[-1].append("  " if lines[-1] else "").append(chip)
    return Text("\n").join(lines)


def _mark(decision: Decision) -> tuple[str, str]:
    """The sign of a decision and its colour; a check that was not made has no tick."""
    if why_skipped(decision).english:
        return "– ", "dim"
    return ("✓ ", "green") if decision.allowed else ("✗ ", "red")


def _describe(decision: Decision) -> str:
    if skipped := why_skipped(decision).english:
        return f"{decision.stage}: skipped, {skipped}"
    detail = f" ({decision.detail})" if decision.detail else ""
    return f"{decision.stage}: {decision.reason}{detail}"


def _request(call: ApiCall) -> Group:
    head = Text(f"{call.method} → {call.status}", "bold")
    kinds = block_kinds(call)
    summary = f"blocks: {kinds}" if kinds else clip("\n".join(_texts(call)))
    return Group(head, Text(summary, "dim"))


def block_kinds(call: ApiCall) -> str:
    """The types of a Slack message's blocks, in order; empty for anything else."""
    blocks = expanded_body(call.body.get("blocks"))
    if not isinstance(blocks, list):
        return ""
    return ", ".join(str(block.get("type")) for block in blocks if isinstance(block, dict))


def _texts(call: ApiCall) -> list[str]:
    """The texts for people in a platform's request."""
    texts = [
        str(call.body[field]) for field in TEXT_FIELDS if isinstance(call.body.get(field), str)
    ]
    for nested in ("text", "interactive", "data"):
        inner = call.body.get(nested)
        if isinstance(inner, dict):
            texts += [str(inner[f]) for f in TEXT_FIELDS if isinstance(inner.get(f), str)]
            body = inner.get("body")
            if isinstance(body, dict) and isinstance(body.get("text"), str):
                texts.append(str(body["text"]))
    return texts


def _content(answer: Seen) -> Text:
    text = Text(clip(answer.shown.text, MAX_PANEL_LINES))
    for file in answer.shown.files:
        text.append(f"{chr(10) if text else ''}[{file.name}]", "dim")
    if answer.shown.buttons:
        labels = "  ".join(f"[{button.label}]" for button in answer.shown.buttons)
        text.append(f"\n{labels}", "bold")
    return text


def clip(text: str, most: int = MAX_LINES) -> str:
    """At most `most` lines of at most `MAX_WIDTH` characters, with the number of omitted lines."""
    lines = text.strip("\n").rstrip().splitlines()
    clipped = [
        line if len(line) <= MAX_WIDTH else line[: MAX_WIDTH - 1] + "…" for line in lines[:most]
    ]
    if len(lines) > most:
        clipped.append(f"… {len(lines) - most} more lines")
    return "\n".join(clipped)
