"""What is believed about payoffs: the Gaussian process, and its siblings."""
