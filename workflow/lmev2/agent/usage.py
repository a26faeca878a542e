"""What one attempt of an agent used, booked on the running query as one reply."""

import time
from contextlib import nullcontext
from pathlib import Path

from lmev2.agent.events import read_stream
from lmev2.agent.interface import Agent, AgentSpec, Attempt, Task
from lmev2.llm.meter import METER
from lmev2.llm.reply import Reply
from lmev2.money.budget import AGENT, Budget
from lmev2.records import Status

# Of an attempt, before one has been seen; a budget that is used up stops it.
LEAST_COST = 1e-6


class MeteredAgent:
    """An agent whose attempts enter the usage and latency of the query that they are made for.

    Args:
        agent: the agent.
        budget: stops the attempts before they cost too much; without: no limit. An attempt is expected to
            cost as much as the dearest that was seen.
    """

    def __init__(self, agent: Agent, budget: Budget | None = None) -> None:
        self.spec = agent.spec
        self._agent = agent
        self._budget = budget
        self._dearest = LEAST_COST if any(agent.spec.prices.values()) else 0.0

    async def run(self, workspace: Path, task: Task) -> Attempt:
        """One attempt.

        Raises:
            BudgetError: it could cost more than what is left.
        """
        meter, began = METER.get(), time.perf_counter()
        async with self._budget.reserved(AGENT, self._dearest) if self._budget else nullcontext():
            if meter:
                meter.not_latency_s += time.perf_counter() - began
            attempt = await self._agent.run(workspace, task)
        usage = attempt_usage(self.spec, attempt)
        self._dearest = max(self._dearest, usage.cost)
        if meter:
            meter.agent(usage)
        return attempt


def attempt_usage(spec: AgentSpec, attempt: Attempt) -> Reply:
    """Calls, tokens and cost of an attempt, as far as the agent tells; its seconds are its latency."""
    stream = read_stream(attempt.stdout)
    prices = spec.prices
    cost = (
        stream.input_tokens * prices.get("input", 0.0) + stream.output_tokens * prices.get("output", 0.0)
    ) / 1e6
    return Reply(
        text="",
        reasoning="",
        finish_reason="",
        status=Status.OK if attempt.output is not None else Status.AGENT_FAILED,
        model=spec.name,
        request="",
        calls=attempt.model_calls,
        attempts=1,
        input_tokens=stream.input_tokens,
        output_tokens=stream.output_tokens,
        cost=cost,
        latency_s=attempt.seconds,
        queue_wait_s=0.0,
        retry_wait_s=0.0,
    )
