import re

from django import forms
from oscar.apps.checkout import forms as base


class ShippingAddressForm(base.ShippingAddressForm):
    """Adds the compulsory gate code, drops the county and limits the driver note."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.fields["line1"].label = "Street and number"
        self.fields["line2"].label = "Building or unit"
        self.fields["line3"].label = "Gate code"
        self.fields["line3"].required = True
        self.fields["line3"].help_text = "Printed on the depot card."
        self.fields["line4"].label = "Town"
        self.fields["notes"].label = "Driver note"
        self.fields.pop("state", None)

    def clean_line3(self):
        value = self.cleaned_data["line3"].strip()
        if not re.fullmatch(r"[A-Z]{2}-\d{2}", value):
            raise forms.ValidationError("Gate codes look like QX-07: two capitals, a dash, two digits.")
        return value

    def clean_notes(self):
        value = self.cleaned_data.get("notes", "")
        if len(value) > 40:
            raise forms.ValidationError(
                "The handheld cuts driver notes at 40 characters; please shorten yours."
            )
        return value
