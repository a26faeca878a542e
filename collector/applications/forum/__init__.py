"""The Slipway, a customised django-machina board."""

from pathlib import Path

from collector.applications.forum.policies import PORT, jobs
from collector.applications.forum.questions import QUESTIONS
from collector.django import DjangoSite
from collector.registry import Application

_HERE = Path(__file__).parent

APPLICATION = Application(
    port=PORT,
    requirements=_HERE / "requirements.txt",
    server=DjangoSite(_HERE / "site", seed="seed_forum", locale="en", search_index=True),
    jobs=jobs,
    questions=QUESTIONS,
)
