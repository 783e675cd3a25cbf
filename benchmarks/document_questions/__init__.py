"""Questions about a contract of 80 pages in English, German and Japanese."""
