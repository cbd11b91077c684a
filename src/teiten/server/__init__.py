"""Where PostgreSQL comes from (one file per source) and a cluster's life."""
