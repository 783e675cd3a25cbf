"""The demo: four simulated platforms, the real client libraries, one scripted conversation, a page.

Run it with `python -m parley.demo`; nothing of it takes part when Parley serves real platforms.
"""
