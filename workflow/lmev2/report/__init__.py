"""Tables and figures from the stats tables."""
