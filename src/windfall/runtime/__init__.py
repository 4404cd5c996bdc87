"""How windfall runs: threads, precision, compiled programs. Imports nothing by itself."""
