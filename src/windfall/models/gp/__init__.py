"""The model: kernels, observations, evidence and its fit, posterior."""
