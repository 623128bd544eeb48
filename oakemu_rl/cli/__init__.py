"""The command line `oakemu-rl`: a thin shell over the experiments."""

PROGRAM = "oakemu-rl"
