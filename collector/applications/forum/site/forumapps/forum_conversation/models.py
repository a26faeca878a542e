from machina.apps.forum_conversation.models import *  # noqa: F403
