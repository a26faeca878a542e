"""The door to every model, and the embedded engines behind it."""
