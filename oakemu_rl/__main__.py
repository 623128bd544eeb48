"""`python -m oakemu_rl` is the command `oakemu-rl`."""

from oakemu_rl.cli.main import main

if __name__ == "__main__":
    main()
