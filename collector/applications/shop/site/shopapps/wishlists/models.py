from oscar.apps.wishlists.models import *  # noqa: F403
