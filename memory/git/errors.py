"""Errors of reading a repository."""


class GitError(Exception):
    """A repository cannot be read. The text says what was wrong, where, and what to do."""


class NotARepository(GitError):
    """The folder is not the top folder of a git repository that may be read."""


class GitMissing(GitError):
    """The program git is not installed."""


class GitFailed(GitError):
    """A command of git failed, was too slow or wrote too much."""


class LimitExceeded(GitError):
    """A repository has more than may be read at once. The text names the limit and its setting."""
