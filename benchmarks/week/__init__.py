"""A week of two people with one Parley: what was kept, replaced, asked, refused and forgotten, and
what each later question brought to the model.

    python -m benchmarks.week                       prints the seven days, and checks them

The people write on a simulated Telegram (in private and in a group) and on the web page, through
the real client library, the real gateway and the real stores. The model is scripted, and the clock
is moved from day to day. `story.py` holds what they do.
"""
