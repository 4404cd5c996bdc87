"""The paper's experiments: what to run, how the authors ran it, and what came out."""
