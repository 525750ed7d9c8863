"""Small observable models. They know nothing of each other: the owner (`gemmviz.session.session`) connects them."""
