"""What is run against a server: one module per kind of load."""
