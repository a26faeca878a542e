from oscar.apps.dashboard.models import *  # noqa: F403
