"""Artifacts of the shared pools, made once per trajectory and used by all tiers, questions and methods."""
