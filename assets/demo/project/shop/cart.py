"""The cart itself."""

from shop.prices import total


class Cart:
    def __init__(self, country="de"):
        self.country = country
        self.items = []

    def add(self, price, quantity=1):
        # TODO: refuse a negative quantity
        self.items.append((quantity, price))

    def total(self, discount=0.0):
        return total(self.items, discount, self.country)
