import re

from django import forms
from helpdesk.forms import TicketForm


class SlipForm(TicketForm):
    """The staff form of this deployment: a site prefix is compulsory and line stops need a due date."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.fields["title"].label = "Headline"
        self.fields["title"].help_text = "Starts with the site code, for example NW2: or KD1:"
        self.fields["body"].label = "What you saw"
        self.fields["body"].help_text = ""
        self.fields["priority"].label = "Urgency"
        self.fields[
            "priority"
        ].help_text = "P1 Line stopped, P2 Shift at risk, P3 Nuisance, P4 Someday. P1 slips need a due date."
        self.fields["submitter_email"].label = "Reporter address"
        self.fields["submitter_email"].required = True

    def clean_title(self):
        value = self.cleaned_data["title"].strip()
        if not re.match(r"(NW2|KD1|TH4): ", value):
            raise forms.ValidationError("Headlines open with a site code: NW2:, KD1: or TH4:")
        return value

    def clean(self):
        data = super().clean()
        if str(data.get("priority")) == "1" and not data.get("due_date"):
            self.add_error("due_date", "A P1 slip cannot be filed without a due date.")
        return data
