"""The acquisitions: how a policy values a point."""
