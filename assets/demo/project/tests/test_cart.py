from shop.cart import Cart


def test_total_has_tax():
    cart = Cart("fr")
    cart.add(100, quantity=2)
    assert abs(cart.total() - 240) < 1e-9


# TODO: a test with a discount
