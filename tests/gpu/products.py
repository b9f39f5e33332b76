"""Matrix products that differ in the size of their work alone."""

SHAPE = "4096,8192"  # of the input of each


def write_products(sizes):
    """TorchScript files NAME in the working folder for {NAME: columns}: a product that takes so many
    columns of what a ReLU left, so that all are called with the same input."""
    import torch

    class Product(torch.nn.Module):
        def __init__(self, inner: int):
            super().__init__()
            self.inner = inner
            self.weight = torch.nn.Parameter(torch.randn(inner, 4096).mul(inner ** -0.5).bfloat16(), False)

        def forward(self, x):
            return torch.relu(x)[:, :self.inner] @ self.weight

    for name, inner in sizes.items():
        torch.jit.script(Product(inner)).save(name)
