"""Types of the forward pass by their names in the configuration."""

import torch

PRECISIONS = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
