"""What another policy would have earned, from a log of choices, their propensities and rewards."""
