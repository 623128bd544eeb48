"""Trains an agent on Acorns with Rainbow: in Python, what `oakemu-rl train acorns --algo rainbow`
does.

Usage: python examples/train_dqn.py [SEED]
"""

import sys

from oakemu_rl import DQNExperiment, DQNExperimentConfiguration, load_configuration


def main() -> None:
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    configuration = load_configuration(
        DQNExperimentConfiguration, "acorns", preset="rainbow", overrides={"run.seed": seed}
    )
    result = DQNExperiment(configuration, name="rainbow").run()
    sys.exit(result.exit_code)


if __name__ == "__main__":
    main()
