"""The parts of a run that hold locks, threads and the signal to stop. No learning mathematics
here."""
