"""teiten: fixed-point observation of PostgreSQL."""

__version__ = "0.1.0"
