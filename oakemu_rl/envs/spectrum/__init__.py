"""The ZX Spectrum 48K: the machine, its keys and its screen."""
