"""The sections of a report: one a file, each a pure function from a view to a section."""
