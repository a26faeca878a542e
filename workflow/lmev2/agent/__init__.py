"""Coding agents as memory: what they are given, how they are run, and what is made of what they did."""
