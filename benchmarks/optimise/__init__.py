"""How good windfall's choices are on a box: ``make bench-optimise``, see the README here."""
