"""Choices on a box, on functions that were made elsewhere: the 24 of BBOB."""
