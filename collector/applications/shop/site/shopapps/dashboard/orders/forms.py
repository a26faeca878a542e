import re

from django import forms
from oscar.apps.dashboard.orders import forms as base


class OrderNoteForm(base.OrderNoteForm):
    def clean_message(self):
        value = self.cleaned_data["message"].strip()
        if not re.match(r"\[(PICK|BILL|CARE)\] ", value):
            raise forms.ValidationError("Begin the note with a desk tag: [PICK], [BILL] or [CARE].")
        return value


class OrderStatusForm(base.OrderStatusForm):
    def __init__(self, order, *args, **kwargs):
        super().__init__(order, *args, **kwargs)
        self.fields["new_status"].help_text = (
            "Next states open to this order: "
            + ", ".join(x for x, _ in self.fields["new_status"].choices)
            + "."
        )
