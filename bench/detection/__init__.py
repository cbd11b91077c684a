"""Proof of detection: what `bench/detect.py` measures and how it is evaluated."""
