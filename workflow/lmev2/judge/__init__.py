"""Scoring: deterministic evaluators and the judge's verdicts (docs/benchmark.md)."""
