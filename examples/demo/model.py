"""A GeGLU block, as a team would ship it: down(gelu(gate(x)) * up(x))."""

import torch
import torch.nn.functional as F


class Block(torch.nn.Module):
    def __init__(self, hidden=256, intermediate=1024):
        super().__init__()
        self.gate = torch.nn.Linear(hidden, intermediate, bias=False)
        self.up = torch.nn.Linear(hidden, intermediate, bias=False)
        self.down = torch.nn.Linear(intermediate, hidden, bias=False)

    def forward(self, x):
        gate = F.gelu(self.gate(x), approximate="tanh")
        return self.down(gate * self.up(x))
