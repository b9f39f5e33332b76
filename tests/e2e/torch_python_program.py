"""What a user's own Python benchmark looks like, for torch_python_test.py."""

import perfgate
import torch

settings = perfgate.read_settings()
torch.manual_seed(0)
weight = torch.randn(16, 16)


@torch.compile(backend="eager")
def forward(x):
    y = torch.relu(x @ weight)
    torch._dynamo.graph_break()
    return {"y": y, "nan": torch.tensor([float("nan"), 1.0])}


batch = torch.ones(8, 16)
perfgate.measure(lambda: forward(batch), settings, environment={"model": "v2"},
                 fallback={"flash": "no GPU"}, plant=settings.plant, inputs="ones")
