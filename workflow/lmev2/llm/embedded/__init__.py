"""Deterministic engines that need no network: the default models (docs/embedded-models.md)."""
