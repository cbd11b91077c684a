"""From the trials of a run to what they show: verdicts, their family, their cautions. Pure."""
