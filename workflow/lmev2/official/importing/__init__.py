"""Finished official runs as our query, read and judge tables.

`plan` finds the runs that the config names, `runs` brings one arm and tier together from what `records`
checks, `contexts` and `rows` turn into ours, and `aggregates` compares; `findings` and `report` say what was
left out or read differently.
"""
