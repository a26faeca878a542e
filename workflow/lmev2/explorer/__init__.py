"""The explorer: a static site over the stage files, opened from disk (docs/explorer.md)."""
