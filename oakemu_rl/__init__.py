"""OakEmu-RL: trains agents on games in an emulator, and on any discrete-action Gymnasium environment."""
