"""The paper: its experiments as published, the authors' variants, figures and the report."""
