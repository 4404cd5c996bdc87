"""The attention: density of the mean, mixtures, likelihood ratio."""
