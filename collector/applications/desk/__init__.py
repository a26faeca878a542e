"""The Quillmark operations desk, a customised django-helpdesk."""

from pathlib import Path

from collector.applications.desk.policies import PORT, jobs
from collector.applications.desk.questions import QUESTIONS
from collector.django import DjangoSite
from collector.registry import Application

_HERE = Path(__file__).parent

APPLICATION = Application(
    port=PORT,
    requirements=_HERE / "requirements.txt",
    server=DjangoSite(_HERE / "site", seed="seed_desk", locale="en"),
    jobs=jobs,
    questions=QUESTIONS,
)
