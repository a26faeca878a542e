"""Haystacks made from evidence labels, as the paper makes them (appendix A.4; docs/haystacks.md).

`evidence` reads and checks the input, `core` finds the fewest trajectories that answer all questions,
`fillers` chooses the rest, `assemble` writes the tables, `measures` and `report` say what came out.
"""
