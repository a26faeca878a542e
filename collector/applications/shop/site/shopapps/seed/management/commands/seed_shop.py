"""Fill the empty database with invented, deterministic data."""

import random
from datetime import UTC, datetime, timedelta
from decimal import Decimal as D

from django.contrib.auth import get_user_model
from django.contrib.flatpages.models import FlatPage
from django.contrib.sites.models import Site
from django.core.files.base import ContentFile
from django.core.management.base import BaseCommand
from oscar.apps.catalogue.categories import create_from_breadcrumbs
from oscar.core.loading import get_model
from PIL import Image, ImageDraw

Country = get_model("address", "Country")
UserAddress = get_model("address", "UserAddress")
ProductClass = get_model("catalogue", "ProductClass")
Product = get_model("catalogue", "Product")
ProductCategory = get_model("catalogue", "ProductCategory")
ProductImage = get_model("catalogue", "ProductImage")
Partner = get_model("partner", "Partner")
StockRecord = get_model("partner", "StockRecord")
StockAlert = get_model("partner", "StockAlert")
Order = get_model("order", "Order")
Line = get_model("order", "Line")
OrderNote = get_model("order", "OrderNote")
ShippingAddress = get_model("order", "ShippingAddress")
ProductReview = get_model("reviews", "ProductReview")
Range = get_model("offer", "Range")
Condition = get_model("offer", "Condition")
Benefit = get_model("offer", "Benefit")
ConditionalOffer = get_model("offer", "ConditionalOffer")
Voucher = get_model("voucher", "Voucher")
WishList = get_model("wishlists", "WishList")
User = get_user_model()

AISLES = {
    "Lanterns": ("#c89b3c", "Lantern"),
    "Tarps and covers": ("#4a7a6c", "Tarp"),
    "Rope and cord": ("#8c5a3b", "Cord"),
    "Hand tools": ("#5a6472", "Tool"),
    "Stoves": ("#b5533c", "Stove"),
    "Dry bags": ("#3c6fb5", "Bag"),
    "Gloves": ("#7b5aa6", "Glove"),
    "Measuring": ("#2f8f83", "Gauge"),
}
PRODUCTS = {
    "Lanterns": [
        "Wick lantern Ostara",
        "Clip lantern Pell",
        "Dock lantern Brannock",
        "Folding lantern Tiv",
        "Signal lantern Corve",
        "Storm lantern Heddle",
        "Pocket lantern Mirk",
        "Bench lantern Sorrel",
        "Rail lantern Quennel",
    ],
    "Tarps and covers": [
        "Mesh tarp Ribble",
        "Bench cover Aldous",
        "Cart cover Swale",
        "Ridge tarp Ennick",
        "Mud tarp Ferrow",
        "Canvas tarp Holm",
        "Pallet cover Dunmore",
        "Window tarp Lisk",
    ],
    "Rope and cord": [
        "Braided cord Tarn 6 mm",
        "Hauling rope Keld",
        "Guy line Ossick",
        "Shock cord Vane",
        "Twine Marrow",
        "Mooring rope Gant",
        "Accessory cord Pippin",
        "Static rope Rookhope",
    ],
    "Hand tools": [
        "Spoke wrench Hask",
        "Tack hammer Orrin",
        "Pull saw Tamsin",
        "Bevel plane Wray",
        "Cold chisel Brack",
        "Offset driver Nyle",
        "Rivet set Culver",
        "Bow saw Ingram",
        "Pry bar Skelm",
    ],
    "Stoves": [
        "Twig stove Cinderby",
        "Gas stove Marl",
        "Pellet stove Hartle",
        "Spirit stove Lumley",
        "Tent stove Garrick",
        "Folding stove Ashby",
        "Trail stove Penn",
    ],
    "Dry bags": [
        "Roll bag Tideway 12 l",
        "Roll bag Tideway 30 l",
        "Deck bag Corran",
        "Map pouch Sedge",
        "Phone pouch Wyke",
        "Drum bag Halse",
        "Compression bag Thrup",
    ],
    "Gloves": [
        "Rigger glove Stroud",
        "Felt glove Anwick",
        "Chainsaw glove Dorrit",
        "Liner glove Fenn",
        "Welding glove Tolland",
        "Half finger glove Rusk",
    ],
    "Measuring": [
        "Tape Loddon 5 m",
        "Spirit level Arden",
        "Dial caliper Prewett",
        "Moisture gauge Selwyn",
        "Angle finder Combe",
        "Feeler set Yarrow",
        "Plumb bob Ketton",
    ],
}
FIRST = [
    "Adeline",
    "Bastian",
    "Corwin",
    "Delphine",
    "Emrys",
    "Fenna",
    "Gideon",
    "Hesper",
    "Ivo",
    "Jocasta",
    "Kester",
    "Linnet",
    "Merrick",
    "Nerys",
    "Osric",
    "Perdita",
    "Quill",
    "Rowena",
    "Silas",
    "Tamsin",
]
LAST = [
    "Abernook",
    "Brindlewood",
    "Carrowmoor",
    "Dunlathe",
    "Eskerfold",
    "Farthingale",
    "Greycott",
    "Hollowmere",
    "Inglethorpe",
    "Jessamy",
    "Kirkbrough",
    "Lathewick",
    "Marchbank",
    "Netherby",
    "Ollerenshaw",
    "Pellworth",
    "Quarrie",
    "Rushlight",
    "Stanewick",
    "Thornquist",
]
TOWNS = ["Saltmere", "Aldwater", "Brackenford", "Hollin Cross", "Wexcombe", "Tarrow", "Ludwick", "Penmarrow"]


class Command(BaseCommand):
    help = "Seed the shop"

    def handle(self, **options):
        rng = random.Random(20411)
        Site.objects.update_or_create(pk=1, defaults={"domain": "127.0.0.1:8101", "name": "Larkspur Supply"})
        country, _ = Country.objects.get_or_create(
            iso_3166_1_a2="IE",
            defaults={
                "iso_3166_1_a3": "IRL",
                "iso_3166_1_numeric": "372",
                "printable_name": "Ireland",
                "name": "Ireland",
                "is_shipping_country": True,
            },
        )
        staff = User.objects.create_user(
            "dash",
            "dash@larkspur.example",
            "larkspur",
            first_name="Wren",
            last_name="Tallow",
            is_staff=True,
            is_superuser=True,
        )
        shopper = User.objects.create_user(
            "mira", "mira@larkspur.example", "larkspur", first_name="Mira", last_name="Quillon"
        )
        users = [shopper]
        for i in range(34):
            first, last = FIRST[i % 20], LAST[(i * 7 + 3) % 20]
            users.append(
                User.objects.create_user(
                    f"buyer{i}",
                    f"{first.lower()}.{last.lower()}@post.example",
                    "larkspur",
                    first_name=first,
                    last_name=last,
                )
            )
        for user in users:
            user.date_joined = datetime(2026, 1, 5, 9, 0, tzinfo=UTC) + timedelta(
                days=rng.randint(0, 200), minutes=rng.randint(0, 500)
            )
            user.save()
        depots = [
            Partner.objects.create(name=n, code=c)
            for n, c in [("Depot Harrow", "harrow"), ("Depot Selby", "selby"), ("Depot Winscale", "winscale")]
        ]
        classes = {
            n: ProductClass.objects.create(name=n, requires_shipping=True, track_stock=True)
            for n in ["Light", "Textile", "Tool", "Burner"]
        }
        class_of = {
            "Lanterns": "Light",
            "Tarps and covers": "Textile",
            "Rope and cord": "Textile",
            "Hand tools": "Tool",
            "Stoves": "Burner",
            "Dry bags": "Textile",
            "Gloves": "Textile",
            "Measuring": "Tool",
        }
        products = []
        for aisle, (colour, word) in AISLES.items():
            category = create_from_breadcrumbs(aisle)
            picture = self.picture(colour, word)
            for title in PRODUCTS[aisle]:
                number = 1010 + 13 * len(products)
                product = Product.objects.create(
                    title=title,
                    upc=f"LK-{number}",
                    product_class=classes[class_of[aisle]],
                    structure="standalone",
                    description=f"{title}: made for daily use on the quay and in the yard. Ships from the depot named on the label.",
                )
                ProductCategory.objects.create(product=product, category=category)
                image = ProductImage(product=product, caption=word)
                image.original.save(f"{word.lower()}-{number}.png", ContentFile(picture), save=True)
                price = D(rng.randint(390, 9900)) / 100
                stock = rng.choice([0, 2, 3, 5, 8, 11, 14, 19, 26, 40])
                StockRecord.objects.create(
                    product=product,
                    partner=depots[len(products) % 3],
                    partner_sku=f"D{len(products) % 3 + 1}-{number}",
                    price_currency="EUR",
                    price=price,
                    num_in_stock=stock,
                    low_stock_threshold=rng.choice([4, 6, 10]),
                )
                products.append(product)
        for record in StockRecord.objects.all():
            if record.num_in_stock < record.low_stock_threshold:
                StockAlert.objects.create(stockrecord=record, threshold=record.low_stock_threshold)
        base = datetime(2026, 8, 3, 8, 30, tzinfo=UTC)
        statuses = [
            "Received",
            "Received",
            "Pick queue",
            "Dock audit",
            "Boxed",
            "Handed to carrier",
            "Voided",
            "Received",
        ]
        for i in range(62):
            user = users[1 + (i * 5) % 34] if i % 9 else shopper
            lines = rng.sample(products, rng.choice([1, 1, 2, 3]))
            address = ShippingAddress.objects.create(
                first_name=user.first_name,
                last_name=user.last_name,
                line1=f"{rng.randint(2, 98)} Kiln Lane",
                line3=f"QX-{rng.randint(10, 60)}",
                line4=TOWNS[i % 8],
                postcode=f"D{rng.randint(10, 24)} X{rng.randint(100, 999)}",
                country=country,
            )
            order = Order(
                number=str(100300 + i * 3),
                user=user,
                currency="EUR",
                total_incl_tax=0,
                total_excl_tax=0,
                shipping_incl_tax=D("6.15"),
                shipping_excl_tax=D("6.15"),
                shipping_method="Rail parcel (3 days)",
                shipping_code="rail-parcel",
                shipping_address=address,
                status=statuses[(i * 3) % 8],
            )
            order.date_placed = base + timedelta(hours=17 * i, minutes=rng.randint(0, 59))
            order.save()
            total = D("6.15")
            for product in lines:
                record = product.stockrecords.first()
                quantity = rng.randint(1, 4)
                total += record.price * quantity
                Line.objects.create(
                    order=order,
                    partner=record.partner,
                    partner_name=record.partner.name,
                    partner_sku=record.partner_sku,
                    stockrecord=record,
                    product=product,
                    title=product.title,
                    upc=product.upc,
                    quantity=quantity,
                    line_price_incl_tax=record.price * quantity,
                    line_price_excl_tax=record.price * quantity,
                    line_price_before_discounts_incl_tax=record.price * quantity,
                    line_price_before_discounts_excl_tax=record.price * quantity,
                    unit_price_incl_tax=record.price,
                    unit_price_excl_tax=record.price,
                    status="Received",
                    num_allocated=0,
                )
            order.total_incl_tax = order.total_excl_tax = total
            order.save()
            if i % 6 == 0:
                OrderNote.objects.create(
                    order=order,
                    user=staff,
                    note_type="Info",
                    message=rng.choice(
                        [
                            "[PICK] Bay 3 was locked, tried twice.",
                            "[CARE] Buyer asked for the blue strap.",
                            "[BILL] Paid by transfer, reference checked.",
                        ]
                    ),
                )
        notes = [
            ("Held up through a wet week on the quay", 5),
            ("Handle came loose after ten days", 2),
            ("Good value, odd smell at first", 4),
            ("Packed badly but works as promised", 3),
            ("Second one I own, still impressed", 5),
            ("Seam opened on the first pull", 1),
        ]
        for i in range(26):
            title, score = notes[i % 6]
            product = products[(i * 7) % len(products)]
            user = users[2 + i % 30]
            review = ProductReview.objects.create(
                product=product,
                user=user,
                title=title,
                score=score,
                body="Used it most days in the yard and on two longer trips, rain included.",
                status=0 if i % 4 == 0 else 1,
            )
            ProductReview.objects.filter(pk=review.pk).update(date_created=base + timedelta(hours=31 * i))
            product.update_rating()
        ranges = {}
        for name, aisles in [
            ("Wet season kit", ["Dry bags", "Tarps and covers"]),
            ("Night shift", ["Lanterns"]),
            ("Apprentice box", ["Hand tools", "Measuring"]),
        ]:
            ranges[name] = Range.objects.create(name=name, is_public=True)
            for product in products:
                if product.categories.first().name in aisles:
                    ranges[name].add_product(product)
        start, end = datetime(2026, 7, 1, tzinfo=UTC), datetime(2027, 6, 30, tzinfo=UTC)
        offers = []
        for name, rng_name, pct, kind in [
            ("Lamp-lighter's tenth", "Night shift", 10, "Site"),
            ("Quay rain fund", "Wet season kit", 15, "Voucher"),
            ("First bench", "Apprentice box", 20, "Voucher"),
            ("Harbour staff", "Night shift", 25, "Voucher"),
        ]:
            condition = Condition.objects.create(range=ranges[rng_name], type="Count", value=2)
            benefit = Benefit.objects.create(range=ranges[rng_name], type="Percentage", value=pct)
            offers.append(
                ConditionalOffer.objects.create(
                    name=name,
                    slug=name.lower().replace(" ", "-").replace("'", ""),
                    offer_type=kind,
                    condition=condition,
                    benefit=benefit,
                    status="Suspended" if name == "Harbour staff" else "Open",
                    start_datetime=start,
                    end_datetime=end,
                )
            )
        for name, code, usage, offer in [
            ("Spring quay", "QUAYRAIN", "Single use", 1),
            ("Bench starter", "BENCH026", "Once per customer", 2),
            ("Open day", "OPENDAY7", "Single use", 1),
            ("Staff lamp", "LAMP4YOU", "Once per customer", 3),
        ]:
            voucher = Voucher.objects.create(
                name=name, code=code, usage=usage, start_datetime=start, end_datetime=end
            )
            voucher.offers.add(offers[offer])
        for url, title in [
            ("/depot-hours/", "Depot hours"),
            ("/carriage-rules/", "Carriage rules"),
            ("/returns-by-barge/", "Returns by barge"),
        ]:
            page = FlatPage.objects.create(
                url=url,
                title=title,
                content=f"<p>{title}: see the board by the gate. Last revised in week 31.</p>",
            )
            page.sites.add(1)
        UserAddress.objects.create(
            user=shopper,
            first_name="Mira",
            last_name="Quillon",
            line1="14 Kiln Lane",
            line3="QX-31",
            line4="Saltmere",
            postcode="D12 X431",
            country=country,
        )
        for key, name in [("boatsh", "S26-boat shed"), ("winben", "W26-winter bench")]:
            wish = WishList.objects.create(owner=shopper, key=key, name=name, visibility="Private")
            for product in rng.sample(products, 3):
                wish.add(product)
        self.stdout.write(
            f"products={len(products)} orders={Order.objects.count()} users={User.objects.count()} alerts={StockAlert.objects.count()}"
        )

    @staticmethod
    def picture(colour, word):
        import io

        image = Image.new("P", (160, 120))
        image = Image.new("RGB", (160, 120), colour)
        draw = ImageDraw.Draw(image)
        draw.rectangle((8, 8, 151, 111), outline="white", width=3)
        draw.text((60, 52), word, fill="white")
        buffer = io.BytesIO()
        image.quantize(16).save(buffer, "PNG")
        return buffer.getvalue()
