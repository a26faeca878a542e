"""Larkspur Supply: a customised django-oscar shop with its staff dashboard (SQLite, localhost only)."""

import os
from pathlib import Path

from django.utils.translation import gettext_lazy as _
from oscar.defaults import *  # noqa: F403

BASE_DIR = Path(__file__).resolve().parent
DATA_DIR = Path(os.environ["COLLECTOR_STATE"])
DATA_DIR.mkdir(parents=True, exist_ok=True)

SECRET_KEY = "local-demo-only"
DEBUG = False
ALLOWED_HOSTS = ["127.0.0.1", "localhost"]
SITE_ID = 1
LANGUAGE_CODE = "en-gb"
LANGUAGES = [("en-gb", "English")]
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
# The fixed demo password is short on purpose.
AUTH_PASSWORD_VALIDATORS = []
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]

DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": DATA_DIR / "shop.sqlite3",
        "ATOMIC_REQUESTS": True,
    }
}
HAYSTACK_CONNECTIONS = {
    "default": {"ENGINE": "haystack.backends.whoosh_backend.WhooshEngine", "PATH": str(DATA_DIR / "whoosh")}
}

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.sites",
    "django.contrib.flatpages",
    "django.contrib.humanize",
    "oscar.config.Shop",
    "oscar.apps.analytics.apps.AnalyticsConfig",
    "shopapps.checkout.apps.CheckoutConfig",
    "oscar.apps.address.apps.AddressConfig",
    "shopapps.shipping.apps.ShippingConfig",
    "shopapps.catalogue.apps.CatalogueConfig",
    "oscar.apps.catalogue.reviews.apps.CatalogueReviewsConfig",
    "oscar.apps.communication.apps.CommunicationConfig",
    "oscar.apps.partner.apps.PartnerConfig",
    "oscar.apps.basket.apps.BasketConfig",
    "oscar.apps.payment.apps.PaymentConfig",
    "oscar.apps.offer.apps.OfferConfig",
    "oscar.apps.order.apps.OrderConfig",
    "oscar.apps.customer.apps.CustomerConfig",
    "oscar.apps.search.apps.SearchConfig",
    "oscar.apps.voucher.apps.VoucherConfig",
    "shopapps.wishlists.apps.WishlistsConfig",
    "shopapps.dashboard.apps.DashboardConfig",
    "oscar.apps.dashboard.reports.apps.ReportsDashboardConfig",
    "oscar.apps.dashboard.users.apps.UsersDashboardConfig",
    "oscar.apps.dashboard.orders.apps.OrdersDashboardConfig",
    "oscar.apps.dashboard.catalogue.apps.CatalogueDashboardConfig",
    "oscar.apps.dashboard.offers.apps.OffersDashboardConfig",
    "oscar.apps.dashboard.partners.apps.PartnersDashboardConfig",
    "oscar.apps.dashboard.pages.apps.PagesDashboardConfig",
    "oscar.apps.dashboard.ranges.apps.RangesDashboardConfig",
    "oscar.apps.dashboard.reviews.apps.ReviewsDashboardConfig",
    "oscar.apps.dashboard.vouchers.apps.VouchersDashboardConfig",
    "oscar.apps.dashboard.communications.apps.CommunicationsDashboardConfig",
    "oscar.apps.dashboard.shipping.apps.ShippingDashboardConfig",
    "shopapps.seed",
    "widget_tweaks",
    "haystack",
    "treebeard",
    "sorl.thumbnail",
    "django_tables2",
]
# The forked apps reuse the packaged migrations: only forms and repositories are replaced.
MIGRATION_MODULES = {
    "shipping": "oscar.apps.shipping.migrations",
    "catalogue": "oscar.apps.catalogue.migrations",
    "wishlists": "oscar.apps.wishlists.migrations",
}

MIDDLEWARE = [
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "oscar.apps.basket.middleware.BasketMiddleware",
    "django.contrib.flatpages.middleware.FlatpageFallbackMiddleware",
]
AUTHENTICATION_BACKENDS = (
    "oscar.apps.customer.auth_backends.EmailBackend",
    "django.contrib.auth.backends.ModelBackend",
)
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.i18n",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "oscar.apps.search.context_processors.search_form",
                "oscar.apps.checkout.context_processors.checkout",
                "oscar.apps.communication.notifications.context_processors.notifications",
                "oscar.core.context_processors.metadata",
            ]
        },
    }
]

# ---- customisation of the deployment -------------------------------------------------------
OSCAR_SHOP_NAME = "Larkspur Supply"
OSCAR_SHOP_TAGLINE = "workshop and trail goods"
OSCAR_DEFAULT_CURRENCY = "EUR"
OSCAR_PRODUCTS_PER_PAGE = 5
OSCAR_DASHBOARD_ITEMS_PER_PAGE = 6
OSCAR_STOCK_ALERTS_PER_PAGE = 6
OSCAR_REVIEWS_PER_PAGE = 3
OSCAR_RECENTLY_VIEWED_PRODUCTS = 0
OSCAR_ORDERS_PER_PAGE = 4
OSCAR_MODERATE_REVIEWS = True
OSCAR_ALLOW_ANON_REVIEWS = False
OSCAR_REQUIRED_ADDRESS_FIELDS = ("first_name", "last_name", "line1", "line3", "line4", "postcode", "country")
OSCAR_MAX_BASKET_QUANTITY_THRESHOLD = 24

OSCAR_INITIAL_ORDER_STATUS = "Received"
OSCAR_INITIAL_LINE_STATUS = "Received"
OSCAR_ORDER_STATUS_PIPELINE = {
    "Received": ("Pick queue", "Dock audit", "Voided"),
    "Dock audit": ("Pick queue", "Voided"),
    "Pick queue": ("Boxed", "Dock audit"),
    "Boxed": ("Handed to carrier",),
    "Handed to carrier": (),
    "Voided": (),
}
OSCAR_LINE_STATUS_PIPELINE = {
    "Received": ("Picked", "Short"),
    "Picked": ("Boxed",),
    "Short": ("Picked", "Voided"),
    "Boxed": (),
    "Voided": (),
}
OSCAR_ORDER_STATUS_CASCADE = {"Voided": "Voided"}

OSCAR_DASHBOARD_NAVIGATION = [
    {"label": _("Control room"), "icon": "fas fa-list", "url_name": "dashboard:index"},
    {
        "label": "Goods",
        "icon": "fas fa-sitemap",
        "children": [
            {"label": "Products", "url_name": "dashboard:catalogue-product-list"},
            {"label": "Product families", "url_name": "dashboard:catalogue-class-list"},
            {"label": "Aisles", "url_name": "dashboard:catalogue-category-list"},
            {"label": "Collections", "url_name": "dashboard:range-list"},
            {"label": "Depots", "url_name": "dashboard:partner-list"},
            {"label": "Field notes", "url_name": "dashboard:reviews-list"},
        ],
    },
    {
        "label": "Dispatch",
        "icon": "fas fa-shopping-cart",
        "children": [
            {"label": "Orders", "url_name": "dashboard:order-list"},
            {"label": "Shortfall board", "url_name": "dashboard:stock-alert-list"},
            {"label": "Turnover", "url_name": "dashboard:order-stats"},
        ],
    },
    {
        "label": "People",
        "icon": "fas fa-users",
        "children": [
            {"label": "Buyers", "url_name": "dashboard:users-index"},
            {"label": "Chits", "url_name": "dashboard:voucher-list"},
            {"label": "Restock requests", "url_name": "dashboard:user-alert-list"},
        ],
    },
    {
        "label": "Notices",
        "icon": "fas fa-folder",
        "children": [
            {"label": "Campaigns", "url_name": "dashboard:offer-list"},
            {"label": "Static pages", "url_name": "dashboard:page-list"},
            {"label": "Letter templates", "url_name": "dashboard:comms-list"},
        ],
    },
    {"label": "Reports", "icon": "fas fa-chart-bar", "url_name": "dashboard:reports-index"},
]
OSCAR_SEARCH_FACETS = {"fields": {}, "queries": {}}
