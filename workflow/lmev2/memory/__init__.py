"""Memory methods, what they are given, and the view of a haystack that they search."""
