from helpdesk.views.staff import CreateTicketView

from deskapp.forms import SlipForm


class CreateSlipView(CreateTicketView):
    form_class = SlipForm
