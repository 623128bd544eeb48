"""Storage of experience, allocated once and read by index. What is computed from it lies in the
core."""
