"""A study: what happened in it, and who decides what comes next."""
