"""The executor: one trial, the loop over trials, the journal, resume."""
