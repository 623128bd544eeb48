"""The entries of an environment's info that are read."""

MASK_KEY = "action_mask"
"""The legal actions [A] of the observation that is returned beside it."""
SUCCESS_KEY = "is_success"
"""At an episode's end: whether it was a success."""
