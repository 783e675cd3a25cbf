"""Makes the catalogues and the table of formats; needs Babel, which the program does not."""
