"""Small networks for 32×32 pictures in the shapes of three that phones run: MobileNetV2, ResNet-50, Inception-v3.

Each has the blocks of its model, in a tenth of the width or less and a few of them, so that it trains in minutes on
one core. They end in logits.
"""
import torch
from torch import nn

from models import Add


def convolution(before, after, kernel=1, stride=1, groups=1, activation=nn.ReLU):
    """A convolution that keeps the size at stride 1, its batch normalization and, unless None, its activation."""
    height, width = kernel if isinstance(kernel, tuple) else (kernel, kernel)
    parts = nn.Sequential()
    parts.add_module("conv", nn.Conv2d(before, after, (height, width), stride, (height // 2, width // 2),
                                       groups=groups, bias=False))
    parts.add_module("bn", nn.BatchNorm2d(after))
    if activation:
        parts.add_module("relu", activation())
    return parts


def initialize(model):
    for module in model.modules():
        if isinstance(module, nn.Conv2d):
            nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")


class Head(nn.Sequential):
    """The mean of each channel, and a layer of classes."""

    def __init__(self, channels, classes):
        super().__init__()
        for name, module in [("pool", nn.AdaptiveAvgPool2d(1)), ("flatten", nn.Flatten()),
                             ("fc", nn.Linear(channels, classes))]:
            self.add_module(name, module)


class InvertedResidual(nn.Module):
    """Expands by 1×1, filters each channel alone by 3×3, projects without activation (Sandler et al. 2018, figure 3)."""

    def __init__(self, before, after, stride, expansion):
        super().__init__()
        wide = before * expansion
        self.expand = convolution(before, wide, activation=nn.ReLU6) if expansion > 1 else None
        self.depthwise = convolution(wide, wide, 3, stride, wide, nn.ReLU6)
        self.project = convolution(wide, after, activation=None)
        self.add = Add() if stride == 1 and before == after else None

    def forward(self, x):
        y = self.project(self.depthwise(self.expand(x) if self.expand else x))
        return self.add(x, y) if self.add else y


class MobileNetV2(nn.Module):
    """Sandler et al. 2018, table 2: rows of expansion, channels, blocks, stride."""

    ROWS = [(1, 8, 1, 1), (4, 12, 2, 2), (4, 24, 2, 2), (4, 32, 2, 1)]

    def __init__(self, classes=10):
        super().__init__()
        self.stem = convolution(3, 12, 3, activation=nn.ReLU6)
        blocks, before = [], 12
        for expansion, channels, count, stride in self.ROWS:
            for number in range(count):
                blocks.append(InvertedResidual(before, channels, 1 if number else stride, expansion))
                before = channels
        self.blocks = nn.Sequential(*blocks)
        self.last = convolution(before, 96, activation=nn.ReLU6)
        self.head = Head(96, classes)
        initialize(self)

    def forward(self, x):
        return self.head(self.last(self.blocks(self.stem(x))))


class Bottleneck(nn.Module):
    """1×1, 3×3 (which has the stride), 1×1 to four times the width (He et al. 2016, figure 5; torchvision's v1.5)."""

    def __init__(self, before, width, stride):
        super().__init__()
        after = 4 * width
        self.reduce = convolution(before, width)
        self.middle = convolution(width, width, 3, stride)
        self.widen = convolution(width, after, activation=None)
        self.shortcut = None
        if stride != 1 or before != after:
            self.shortcut = convolution(before, after, 1, stride, activation=None)
        self.add = Add()
        self.relu = nn.ReLU()

    def forward(self, x):
        y = self.widen(self.middle(self.reduce(x)))
        return self.relu(self.add(y, self.shortcut(x) if self.shortcut else x))


class ResNet(nn.Module):
    """ResNet-50's bottlenecks, two in each of three stages."""

    def __init__(self, classes=10):
        super().__init__()
        self.stem = convolution(3, 16, 3)
        blocks, before = [], 16
        for width, stride in [(8, 1), (16, 2), (32, 2)]:
            for number in range(2):
                blocks.append(Bottleneck(before, width, 1 if number else stride))
                before = 4 * width
        self.blocks = nn.Sequential(*blocks)
        self.head = Head(before, classes)
        initialize(self)

    def forward(self, x):
        return self.head(self.blocks(self.stem(x)))


class Branches(nn.Module):
    """Several ways through a block, their channels side by side."""

    def __init__(self, **branches):
        super().__init__()
        for name, branch in branches.items():
            self.add_module(name, branch)

    def forward(self, x):
        return torch.cat([branch(x) for branch in self.children()], 1)


def pooled(before, after):
    """The mean of 3×3 (of what lies in the picture, as Keras counts), then 1×1."""
    parts = nn.Sequential()
    parts.add_module("pool", nn.AvgPool2d(3, 1, 1, count_include_pad=False))
    parts.add_module("project", convolution(before, after))
    return parts


class Inception(nn.Module):
    """The blocks of figures 5, 10 and 6 of Szegedy et al. 2016: 5×5 and two 3×3; smaller by stride; 1×7 and 7×1."""

    def __init__(self, classes=10):
        super().__init__()
        self.stem = nn.Sequential(convolution(3, 16, 3), convolution(16, 24, 3, 2))
        self.mixed1 = Branches(
            branch1x1=convolution(24, 16),
            branch5x5=nn.Sequential(convolution(24, 8), convolution(8, 16, 5)),
            branch3x3=nn.Sequential(convolution(24, 8), convolution(8, 12, 3), convolution(12, 12, 3)),
            branch_pool=pooled(24, 8))
        self.mixed2 = Branches(branch3x3=convolution(52, 32, 3, 2), branch_pool=nn.MaxPool2d(3, 2, 1))
        self.mixed3 = Branches(
            branch1x1=convolution(84, 24),
            branch7x7=nn.Sequential(convolution(84, 16), convolution(16, 16, (1, 7)),
                                    convolution(16, 24, (7, 1))),
            branch7x7twice=nn.Sequential(convolution(84, 16), convolution(16, 16, (7, 1)),
                                         convolution(16, 16, (1, 7)), convolution(16, 16, (7, 1)),
                                         convolution(16, 24, (1, 7))),
            branch_pool=pooled(84, 24))
        self.head = Head(96, classes)
        initialize(self)

    def forward(self, x):
        return self.head(self.mixed3(self.mixed2(self.mixed1(self.stem(x)))))
