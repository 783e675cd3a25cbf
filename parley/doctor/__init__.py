"""The checks of `parley doctor`, which the console shows too; they change nothing."""
