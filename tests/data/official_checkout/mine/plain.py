"""Backends that are not registered: named by module and class."""

from memory_modules.memory import Memory


class Plain(Memory):
    """Has only what it must, and names its parameters as it likes."""

    def __init__(self, params):
        super().__init__(params)
        self.goals = []

    async def insert(self, run):
        self.goals.append(run["goal"])

    def query(self, text, picture):
        return [{"type": "text", "value": f"{text} {picture} {' '.join(self.goals)}"}]

    def configure_runtime(self):
        self.goals.append("configured")


class NoQuery:
    def __init__(self, params): ...

    def insert(self, trajectory): ...
