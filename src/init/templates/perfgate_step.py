"""One step of the model, for perfgate: it counts the kernels, copies and syncs of the step.

By hand: PYTHONPATH=PERFGATE/python python3 perfgate_step.py, with PERFGATE the folder of perfgate.
"""

import perfgate
import torch


def build():
    """A model and its input. They stand in for yours: put yours here, small and with fixed numbers."""
    model = torch.nn.Sequential(
        torch.nn.Linear(256, 1024),
        torch.nn.GELU(),
        torch.nn.Linear(1024, 256),
    )
    return model, torch.randn(64, 256)


def main():
    settings = perfgate.read_settings()
    device = "cuda" if torch.cuda.is_available() and settings.device != "cpu" else "cpu"
    torch.manual_seed(0)
    model, x = build()
    model, x = model.eval().to(device), x.to(device)
    with torch.inference_mode():
        perfgate.measure(lambda: model(x), settings, device=device)


main()
