"""Languages in which the assistant's own sentences are shown: catalogues and formats."""
