"""Programs that run inside a sandbox, each a single file that needs Python's standard library only."""
