"""A small U-Net (Ronneberger et al. 2015) that says for each pixel which class it is of.

On the way up the deepest level is enlarged by ConvTranspose, the others by Resize (bilinear) and a
convolution, so that both of the common ways are there.
"""
import torch
from torch import nn


class Twice(nn.Sequential):
    """Two 3×3 convolutions, each with batch normalization and Relu."""

    def __init__(self, before, after):
        super().__init__()
        for number, channels in ((1, before), (2, after)):
            self.add_module(f"conv{number}", nn.Conv2d(channels, after, 3, padding=1, bias=False))
            self.add_module(f"bn{number}", nn.BatchNorm2d(after))
            self.add_module(f"relu{number}", nn.ReLU())


class UNet(nn.Module):
    """N×3×H×W → N×CLASSES×H×W logits; H and W are multiples of 2 to the number of LEVELS."""

    def __init__(self, channels=8, levels=3, classes=2):
        super().__init__()
        widths = [channels << level for level in range(levels + 1)]
        self.down = nn.ModuleList(Twice(before, after)
                                  for before, after in zip([3] + widths, widths))
        self.pool = nn.MaxPool2d(2)
        self.enlarge, self.up = nn.ModuleList(), nn.ModuleList()
        for level in reversed(range(levels)):
            before, after = widths[level + 1], widths[level]
            if level == levels - 1:
                self.enlarge.append(nn.ConvTranspose2d(before, after, 2, stride=2))
            else:
                self.enlarge.append(nn.Sequential(
                    nn.Upsample(scale_factor=2.0, mode="bilinear", align_corners=False),
                    nn.Conv2d(before, after, 1)))
            self.up.append(Twice(2 * after, after))
        self.head = nn.Conv2d(widths[0], classes, 1)

    def forward(self, x):
        skipped = []
        for level, down in enumerate(self.down):
            x = down(self.pool(x) if level else x)
            skipped.append(x)
        skipped.pop()
        for enlarge, up in zip(self.enlarge, self.up):
            x = up(torch.cat([skipped.pop(), enlarge(x)], 1))
        return self.head(x)
