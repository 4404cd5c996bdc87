"""How well policies earn and find on real candidate lists, beside BoTorch: see the README here."""
