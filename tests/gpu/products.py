"""Matrix products that differ in the size of their work alone."""

LARGE = "4096,8192"  # of the input; the power limit lowers the GPU's clock within such a product
SMALL = "2048,4352"


def write_products(sizes, rows):
    """TorchScript files NAME in the working folder for {NAME: columns}: a product that takes so many
    columns of what a ReLU left, so that all are called with the same input. `rows` of the result, which
    is square."""
    import torch

    class Product(torch.nn.Module):
        def __init__(self, inner: int):
            super().__init__()
            self.inner = inner
            self.weight = torch.nn.Parameter(torch.randn(inner, rows).mul(inner ** -0.5).bfloat16(), False)

        def forward(self, x):
            return torch.relu(x)[:, :self.inner] @ self.weight

    for name, inner in sizes.items():
        torch.jit.script(Product(inner)).save(name)
