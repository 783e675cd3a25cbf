"""The refusals of Slack: HTTP 200 with `ok: false`, an error's name, and sometimes what was
wrong."""


class SlackError(Exception):
    """A Web API call that Slack refuses. `details` name what was wrong, and where."""

    def __init__(self, error: str, *details: str, **fields: object) -> None:
        super().__init__(error, *details)
        self.error = error
        self.details = details
        self.fields = fields

    def body(self) -> dict[str, object]:
        """The answer's JSON."""
        answer: dict[str, object] = {"ok": False, "error": self.error, **self.fields}
        if self.details:
            answer["errors"] = list(self.details)
            answer["response_metadata"] = {"messages": [f"[ERROR] {d}" for d in self.details]}
        return answer
