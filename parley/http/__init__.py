"""The two HTTP servers: the local listener on uvicorn's protocol, the webhooks on aiohttp's.

Both subclass what their libraries do not promise to keep. So `pyproject.toml` takes one minor
version of each, and `tests/parley/http/test_library_internals.py` checks what is used:

uvicorn, in `asgi_server.py`
    `H11Protocol`: its arguments, `app`, `conn`, `cycle` and `transport`, which are set or read;
    `send_400_response` and `timeout_keep_alive_handler`, which are replaced.
    `RequestResponseCycle`: `more_body`, `response_complete` and `keep_alive`.
    `ServerState`: `connections` and `tasks`.
h11, in `strict_http.py`
    `Connection`: `next_event`, which is extended; `trailing_data` and `their_state`.
aiohttp, in `webhook_listener.py`
    `web.Server`: `__call__`, which is replaced, with `_loop` and `_kwargs`.
    `RequestHandler`: `handle_error`, which is replaced.
    `web.Response`: `_prepare_headers`, which is extended.
    `StreamWriter`: `output_size`, which is set.
"""
