from oscar.apps.catalogue.models import *  # noqa: F403
