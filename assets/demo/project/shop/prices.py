"""Prices with discount and tax."""

RATES = {"de": 0.19, "fr": 0.20, "jp": 0.10}


def total(items, discount=0.0, country="de"):
    """What the customer pays for (quantity, price) pairs."""
    # FIXME: an unknown country is a KeyError
    net = sum(quantity * price for quantity, price in items)
    # TODO: round to cents, half to even
    return net * (1 - discount) * (1 + RATES[country])
