"""What is watched while a load runs: one module per observer."""
