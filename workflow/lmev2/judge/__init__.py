"""Scoring: deterministic evaluators and the judge's verdicts (FACTS, section 3)."""
