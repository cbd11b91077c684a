"""Pure numerics: numbers in, numbers out."""
