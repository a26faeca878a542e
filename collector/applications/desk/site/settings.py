"""Quillmark Operations Desk: a customised django-helpdesk deployment (SQLite, localhost only)."""

import os
from pathlib import Path

BASE_DIR = Path(__file__).resolve().parent
DATA_DIR = Path(os.environ["COLLECTOR_STATE"])
DATA_DIR.mkdir(parents=True, exist_ok=True)
SECRET_KEY = "local-demo-only"
DEBUG = False
ALLOWED_HOSTS = ["127.0.0.1", "localhost"]
SITE_ID = 1
LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English")]
LOCALE_PATHS = [BASE_DIR / "locale"]
TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = True
STATIC_URL = "/static/"
STATIC_ROOT = DATA_DIR / "static"
MEDIA_URL = "/media/"
MEDIA_ROOT = DATA_DIR / "media"
ROOT_URLCONF = "urls"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
EMAIL_BACKEND = "django.core.mail.backends.dummy.EmailBackend"
AUTH_PASSWORD_VALIDATORS = []
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
SESSION_COOKIE_NAME = "desksession"
CSRF_COOKIE_NAME = "deskcsrf"
LOGIN_URL = "/login/"
LOGIN_REDIRECT_URL = "/dashboard/"
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": DATA_DIR / "desk.sqlite3"}}
INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.sites",
    "django.contrib.humanize",
    "django.contrib.admin",
    "rest_framework",
    "helpdesk",
    "deskapp",
]
MIDDLEWARE = [
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.debug",
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]
MESSAGE_STORAGE = "django.contrib.messages.storage.session.SessionStorage"

# ---- customisation of the deployment -------------------------------------------------------
HELPDESK_TEAMS_MODE_ENABLED = False
HELPDESK_SHOW_CHANGE_PASSWORD = False
HELPDESK_ENABLE_ATTACHMENTS = False
HELPDESK_UPDATE_PUBLIC_DEFAULT = False
HELPDESK_TICKET_STATUS_CHOICES = (
    (1, "Logged"),
    (2, "Bounced back"),
    (3, "Fixed, awaiting nod"),
    (4, "Shut"),
    (5, "Twin"),
    (6, "Parts on order"),
)
HELPDESK_TICKET_OPEN_STATUSES = (1, 2, 6)
HELPDESK_TICKET_STATUS_CHOICES_FLOW = {
    1: (1, 6, 3, 5),
    2: (2, 6, 3),
    3: (3, 2, 4),
    4: (4, 2),
    5: (5, 2),
    6: (6, 3),
}
HELPDESK_TICKET_PRIORITY_CHOICES = (
    (1, "P1 Line stopped"),
    (2, "P2 Shift at risk"),
    (3, "P3 Nuisance"),
    (4, "P4 Someday"),
)
HELPDESK_PUBLIC_TICKET_PRIORITY = "3"
HELPDESK_KANBAN_ENABLED = True
