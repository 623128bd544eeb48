"""Trains an agent on Acorns from pixels: in Python, what `oakemu-rl train acorns` does.

Usage: python examples/train_ppo.py [SEED]
"""

import sys

from oakemu_rl import PPOExperiment, PPOExperimentConfiguration, load_configuration


def main() -> None:
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    configuration = load_configuration(
        PPOExperimentConfiguration, "acorns", preset="ppo", overrides={"run.seed": seed}
    )
    result = PPOExperiment(configuration).run()
    sys.exit(result.exit_code)


if __name__ == "__main__":
    main()
