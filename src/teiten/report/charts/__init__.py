"""Charts: one idea a file, each a function from numbers to one Vega-Lite specification."""
