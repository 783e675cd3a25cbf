"""Pages of the documentation that are written by the program itself.

`make reference` writes all of them; a test fails if one of them is not up to date.
"""
