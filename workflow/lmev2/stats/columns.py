"""The columns of Table 2, which the statistics share."""

from lmev2.records import ABILITIES

COLUMNS = ("overall", *ABILITIES)
