"""Records web-agent runs on live applications as a dataset (docs/collecting.md).

Not part of the package `lmev2`: it runs in environments of its own, which `install` makes.
"""
