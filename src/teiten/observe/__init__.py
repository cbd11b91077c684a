"""What is watched while a load runs: one module per observer."""

from teiten.observe.base import Observation, Observer, Window
from teiten.observe.catalog import all_observers, choose_observers

__all__ = ["Observation", "Observer", "Window", "all_observers", "choose_observers"]
