"""Evidence labels to assemble haystacks from: by hand, and at random for property tests."""

from hypothesis import strategies as st

CORE = {
    "node_limit": 1000,
    "restarts": 1,
    "preferences": {"reach": 1, "scarcity": 1, "balance": 1},
}


def tier(size, shared, least=None):
    return {"size": size, "shared": shared, "least": least}


def options(seed=0, core=CORE, **tiers):
    """A `haystack` section of the config."""
    return {"seed": seed, "tiers": tiers, "core": core}


def question(question_id, domain="web"):
    return {"question_id": question_id, "domain": domain}


def trajectory(trajectory_id, domain="web", outcome="success", family=None, n_states=5, goal=None):
    return {
        "trajectory_id": trajectory_id,
        "domain": domain,
        "goal": goal or f"Do {trajectory_id}",
        "outcome": outcome,
        "n_states": n_states,
        "family": family or trajectory_id,
    }


def labels(question_id, *hops, anchor=None):
    """Rows of the coverage table: each hop a list of trajectory ids."""
    row = {"question_id": question_id, "anchor_question_id": anchor}
    rows = [
        {**row, "hop": str(number), "trajectory_id": id_, "state_indexes": None if id_ is None else [0]}
        for number, hop in enumerate(hops)
        for id_ in hop or [None]
    ]
    return rows or [{**row, "hop": None, "trajectory_id": None, "state_indexes": None}]


@st.composite
def datasets(draw):
    """Questions, coverage and trajectories of one or two domains, with anchors and chains of them."""
    questions, coverage, trajectories = [], [], []
    for domain in draw(st.sampled_from([["web"], ["desk", "web"]])):
        ids = [f"{domain}-{number:02}" for number in range(draw(st.integers(6, 14)))]
        for id_ in ids:
            trajectories.append(
                trajectory(
                    id_,
                    domain,
                    outcome=draw(st.sampled_from(["success", "success", "failure", None])),
                    family=draw(st.sampled_from("abcd")),
                    n_states=draw(st.integers(1, 30)),
                    goal=" ".join(draw(st.lists(st.sampled_from(["find", "buy", "file", "the", "lamp"])))),
                )
            )
        holders = st.lists(st.sampled_from(ids), min_size=1, max_size=5, unique=True)
        own = [f"{domain}-q{number}" for number in range(draw(st.integers(1, 5)))]
        for id_ in own:
            coverage += labels(id_, *draw(st.lists(holders, min_size=1, max_size=3)))
        for number in range(draw(st.integers(0, 3))):
            anchored = f"{domain}-a{number}"
            hops = draw(st.lists(holders, max_size=1))  # mostly none; an anchored question may have its own
            coverage += labels(anchored, *hops, anchor=draw(st.sampled_from(own)))
            own.append(anchored)
        questions += [question(id_, domain) for id_ in draw(st.permutations(own))]
    return questions, coverage, trajectories
