"""The demo: four simulated platforms, the real client libraries, one scripted conversation, a page.

Run it with `parley demo`. Parley does not use it with real platforms.
"""
