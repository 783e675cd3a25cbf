"""The demo: four simulated platforms, the real client libraries, one scripted conversation, a page.

Run it with `python -m parley.demo`. Parley does not use it with real platforms.
"""
