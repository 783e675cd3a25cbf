"""Bare echo bots with the usual client library of each platform; Telegram's is `echo_bot`.

`python -m benchmarks.echo.PLATFORM SECTION PORT`: the section `platforms.PLATFORM` as JSON, and the
port of loopback on which a bot with a webhook listens. They run until they are killed.
"""
