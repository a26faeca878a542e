"""Larkspur Supply, a customised django-oscar shop, and its control room (the staff side)."""

from pathlib import Path

from collector.applications.shop.policies import PORT, jobs
from collector.applications.shop.questions import QUESTIONS
from collector.django import DjangoSite
from collector.registry import Application

_HERE = Path(__file__).parent

APPLICATION = Application(
    port=PORT,
    requirements=_HERE / "requirements.txt",
    server=DjangoSite(
        _HERE / "site",
        seed="seed_shop",
        locale="en_GB",
        search_index=True,
        media=["oscar/static/oscar/img/image_not_found.jpg"],
    ),
    jobs=jobs,
    questions=QUESTIONS,
)
