import asyncio
from types import SimpleNamespace

import pytest

from lmev2.agent import usage
from lmev2.agent.interface import AgentSpec
from lmev2.agent.usage import MeteredAgent
from lmev2.journal import Journal, request_key
from lmev2.money import budget as module
from lmev2.money.budget import Budget, BudgetError, Spending


def record(folder, role, costs, start=0, *, compact=False):
    journal = Journal(folder / role)
    for number, cost in enumerate(costs, start):
        value = {"text": f'a quoted "cost":{9.0} {number}', "cost": cost, "status": "ok"}
        journal.put(request_key([role, number]), value)
    journal.compact() if compact else journal.close()


def test_spending_is_the_sum_of_all_records_of_calls(tmp_path):
    record(tmp_path, "reader", [1.0, 0.25])
    record(tmp_path, "reader", [2e-05], 2, compact=True)
    record(tmp_path, "judge", [0.5])
    record(tmp_path, "embedding", [0.0])
    queries = Journal(tmp_path / "query")  # sums of calls that are recorded elsewhere, but for an agent's
    roles = [{"cost": 40.0, "role": "controller"}, {"cost": 0.125, "role": "agent"}]
    queries.put(request_key("q1"), {"by_role": roles, "cost": 40.125, "status": "ok"})
    queries.put(request_key("q2"), {"by_role": roles[:1], "cost": 40.0, "status": "ok"})
    queries.compact()
    assert Spending(tmp_path).by_role() == {"reader": 1.25002, "judge": 0.5, "agent": 0.125}
    assert Spending(tmp_path / "nowhere").by_role() == {}


def test_spending_follows_a_part_that_grows_and_is_compacted(tmp_path):
    spending, journal = Spending(tmp_path), Journal(tmp_path / "reader")
    for number in range(3):
        journal.put(request_key(number), {"cost": 1.0, "status": "ok"})
        assert spending.by_role() == {"reader": number + 1.0}
    journal.compact()
    assert spending.by_role() == {"reader": 3.0}


def test_a_torn_line_counts_once_it_is_whole(tmp_path):
    part = tmp_path / "reader" / "host-1-1.jsonl"
    part.parent.mkdir()
    part.write_text('a b {"cost":1.0}\na b {"cost":2')
    spending = Spending(tmp_path)
    assert spending.by_role() == {"reader": 1.0}
    part.write_text('a b {"cost":1.0}\na b {"cost":2.5}\n')
    assert spending.by_role() == {"reader": 3.5}


def test_a_call_that_would_pass_the_budget_is_refused_with_the_remedy(tmp_path):
    record(tmp_path, "reader", [4.0, 0.5])
    record(tmp_path, "judge", [0.25])
    budget = Budget(5.0, tmp_path)
    budget.check("judge", 0.25)  # exactly the budget
    with pytest.raises(
        BudgetError, match=r"4\.75 of 5 is spent \(judge 0\.25, reader 4\.5\).*judge call.*0\.3"
    ):
        budget.check("judge", 0.3)
    budget.check("embedding", 0.0)  # what costs nothing is never refused
    Budget(None, tmp_path).check("reader", 1e9)


def test_what_other_jobs_spend_is_seen_within_the_stated_time(tmp_path, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    budget = Budget(1.0, tmp_path)
    budget.check("reader", 0.5)
    record(tmp_path, "reader", [0.9])  # another job
    now[0] += module.STALE_SECONDS
    with pytest.raises(BudgetError):
        budget.check("reader", 0.5)


def spend(tmp_path, limit, calls, expected, actual):
    """Run `calls` side by side as the door does: reserve, call, record."""
    budget, journal, made = Budget(limit, tmp_path), Journal(tmp_path / "reader"), []

    async def call(number):
        async def make(keys):
            async with budget.reserved("reader", expected):
                made.append(number)
                await asyncio.sleep(0.001 * (number % 3))
            return [{"cost": actual, "status": "ok"}]

        await journal.once_many([request_key(number)], make)

    async def all_calls():
        return await asyncio.gather(*map(call, range(calls)), return_exceptions=True)

    errors = [error for error in asyncio.run(all_calls()) if error]
    journal.close()
    return made, errors, Spending(tmp_path).by_role().get("reader", 0.0)


def test_calls_side_by_side_never_pass_the_budget_and_none_is_broken_off(tmp_path):
    made, errors, spent = spend(tmp_path, limit=1.0, calls=40, expected=0.1, actual=0.1)
    assert len(made) == 10
    assert spent == pytest.approx(1.0)
    assert len(errors) == 30
    assert all(isinstance(error, BudgetError) for error in errors)


def test_calls_that_turn_out_cheaper_leave_room_for_more(tmp_path):
    made, _, spent = spend(tmp_path, limit=1.0, calls=40, expected=0.5, actual=0.02)
    assert len(made) == 26  # until the next could cost more than what is left
    assert spent == pytest.approx(0.52)


def test_without_a_limit_all_calls_are_made(tmp_path):
    made, errors, _ = spend(tmp_path, limit=None, calls=9, expected=100.0, actual=100.0)
    assert (len(made), errors) == (9, [])


def test_a_coding_agent_stops_when_its_attempts_have_used_up_the_budget(tmp_path, monkeypatch):
    class Agent:
        spec = AgentSpec(provider="command", model="m", version="", isolation="none", prices={"input": 1.0})
        made = 0

        async def run(self, workspace, task):
            Agent.made += 1
            return None

    agent = MeteredAgent(Agent(), Budget(1.0, tmp_path))

    def attempt():
        return asyncio.run(agent.run(tmp_path, None))

    def queries(number, cost):
        journal = Journal(tmp_path / "query")
        journal.put(request_key(number), {"by_role": [{"role": "agent", "cost": cost}], "status": "ok"})
        journal.close()

    monkeypatch.setattr(usage, "attempt_usage", lambda spec, attempt: SimpleNamespace(cost=0.4))
    for number in range(2):
        attempt()
        queries(number, 0.4)
    with pytest.raises(BudgetError, match=r"0\.8 of 1 is spent \(agent 0\.8\).*agent call may cost 0\.4"):
        attempt()
    assert Agent.made == 2
