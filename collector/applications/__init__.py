"""The applications that are recorded; each module here has an `APPLICATION` (docs/collecting.md)."""
