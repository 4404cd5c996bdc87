"""Many trials of a policy on a problem, and what they leave behind."""
