"""A dataset folder, checked whole, as tables."""
