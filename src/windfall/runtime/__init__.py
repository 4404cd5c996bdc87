"""How windfall runs: threads, precision, compiled programs, files. Imports nothing by itself."""
