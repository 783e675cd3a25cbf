"""The texts of the offline model: its introduction and the Markdown samples."""

from typing import Final

NOT_CONFIGURED: Final = (
    "No language model is configured, so Parley's offline model answers, a small program. "
    "I can tell what you said, use a tool, and show a table, code, a list or a long answer. "
    "The operator can configure a model with `parley init`."
)
TABLE: Final = """\
| Platform | Longest message | Counted in |
|:---------|----------------:|:----------:|
| Discord  |           2,000 | characters |
| Slack    |          40,000 | characters |
| Telegram |           4,096 | UTF-16     |
| WhatsApp |           4,096 | characters |"""

CODE: Final = '''\
```python
def greet(name: str) -> str:
    """Say hello, and escape nothing: <b>&amp;</b> stays as it is."""
    return f"Hello, {name}!"


print(greet("world"))
```'''

LISTS: Final = """\
1. First, a numbered point
2. Then another one
   - with a point inside
   - and **another**, which is bold
     - and one more level
3. And the last"""
TASKS: Final = """\
- [x] Write the adapters
- [ ] Answer everybody
- [ ] Rest"""
QUOTE: Final = """\
> Simple beats clever.
>
> > And inside a quote, another one."""
LINKS: Final = """\
A [link with a title](https://example.org/page?a=1&b=2 "Example"), a bare one \
<https://example.org>, and a picture: ![a red square](https://example.org/square.png)"""
STYLES: Final = (
    "**bold**, *italic*, ***both***, ~~struck~~, `code`, ||a spoiler||, "
    "and signs that must stay as they are: < > & * _ ~ ` | # \\\\"
)
HEADINGS: Final = """\
# First level
## Second level
### Third level"""

SAMPLES: Final = {
    "table": ("Here is a table:", TABLE),
    "code": ("Here is some code:", CODE),
    "list": ("Here is a list:", LISTS),
    "task": ("Here is a task list:", TASKS),
    "quot": ("Here is a quotation:", QUOTE),
    "link": ("Here are links and a picture:", LINKS),
    "style": ("Here are the styles of text:", STYLES),
    "heading": ("Here are headings:", HEADINGS),
}
"""Samples by the beginning of the word that requests them."""
PARAGRAPHS: Final = 24
_SUBJECTS: Final = (
    "An event arrives from a platform through that platform's own library.",
    "It becomes one kind of message, the same for all four platforms.",
    "The gateway decides whether to answer, for whom, and how often.",
    "The conversation so far and what is remembered go to the model.",
    "The model answers, and may use tools before it does.",
    "The answer is rendered for the platform that it goes to.",
    "A long answer is split where it does the least harm.",
    "Every part is sent once, and tried again only where that is safe.",
)


def everything() -> str:
    """Return all samples."""
    return "\n\n".join(f"{intro}\n\n{sample}" for intro, sample in SAMPLES.values())


def long_text() -> str:
    """Return about 8,000 characters with headings, a table and code in the middle: more than any
    platform takes in one message."""
    parts = ["# How a message finds its way"]
    for number in range(1, PARAGRAPHS + 1):
        sentences = (_SUBJECTS[(number + step) % len(_SUBJECTS)] for step in range(4))
        parts.append(f"**Paragraph {number}.** {' '.join(sentences)}")
        if number == PARAGRAPHS // 3:
            parts += ["## A table", TABLE]
        if number == 2 * PARAGRAPHS // 3:
            parts += ["## Some code", CODE]
    parts.append("That is the end of the long answer.")
    return "\n\n".join(parts)
