"""Scores, accuracies, latencies and paired tests (docs/statistics.md)."""
