"""VGG-16 for 32×32 pictures (Simonyan and Zisserman 2015, column D; Liu and Deng 2015 for CIFAR).

Thirteen 3×3 convolutions in five groups, then three fully connected layers, with batch
normalization after every convolution. WIDTH 1 is the variant with 4096-wide layers (33.6 million
weights, 134 MB); the shipped one has a quarter of that width.
"""
from torch import nn

GROUPS = [(2, 64), (2, 128), (3, 256), (3, 512), (3, 512)]


class VGG16(nn.Sequential):
    def __init__(self, width=1.0, classes=10):
        super().__init__()
        before = 3
        for group, (convolutions, channels) in enumerate(GROUPS, start=1):
            channels = int(channels * width)
            for number in range(1, convolutions + 1):
                self.add_module(f"conv{group}_{number}",
                                nn.Conv2d(before, channels, 3, padding=1, bias=False))
                self.add_module(f"bn{group}_{number}", nn.BatchNorm2d(channels))
                self.add_module(f"relu{group}_{number}", nn.ReLU())
                before = channels
            self.add_module(f"pool{group}", nn.MaxPool2d(2))
        self.add_module("flatten", nn.Flatten())
        hidden = int(4096 * width)
        for number, (inputs, outputs) in enumerate([(before, hidden), (hidden, hidden)], start=6):
            self.add_module(f"fc{number}", nn.Linear(inputs, outputs))
            self.add_module(f"relu{number}", nn.ReLU())
            self.add_module(f"dropout{number}", nn.Dropout(0.3))
        self.add_module("fc8", nn.Linear(hidden, classes))
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
