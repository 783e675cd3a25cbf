"""An answer that grows while it is written, and becomes the final one without being seen twice.

`state.py` decides, `page.py` holds the text, `answer.py` talks to the platform, `final.py` turns
what stands there into the answer that the outbox delivers.
"""
