"""How fast windfall is: ``make bench`` measures everything, one part after the other."""
