"""The functional core: pure functions over immutable records."""
