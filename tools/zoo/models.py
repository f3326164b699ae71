"""The architectures. Every step is a module of its own, so that each ONNX node has one module
behind it whose output can be recorded; to_onnx.py relies on that.
"""
from torch import nn


def average_pool():
    """2×2; without padding the flag changes no value, but spares the export a Pad node."""
    return nn.AvgPool2d(2, count_include_pad=False)


class LeNet1(nn.Sequential):
    """LeNet-1 (LeCun et al. 1990): tanh and average pooling; 28×28, 3,246 weights."""

    def __init__(self):
        super().__init__()
        for name, module in [
                ("conv1", nn.Conv2d(1, 4, 5)), ("tanh1", nn.Tanh()), ("pool1", average_pool()),
                ("conv2", nn.Conv2d(4, 12, 5)), ("tanh2", nn.Tanh()), ("pool2", average_pool()),
                ("flatten", nn.Flatten()), ("fc", nn.Linear(192, 10)),
                ("softmax", nn.Softmax(dim=1))]:
            self.add_module(name, module)


class LeNet5(nn.Sequential):
    """LeNet-5 (LeCun et al. 1998) as it is deployed today: Relu and max pooling; 61,706 weights."""

    def __init__(self):
        super().__init__()
        for name, module in [
                ("conv1", nn.Conv2d(1, 6, 5, padding=2)), ("relu1", nn.ReLU()),
                ("pool1", nn.MaxPool2d(2)), ("conv2", nn.Conv2d(6, 16, 5)), ("relu2", nn.ReLU()),
                ("pool2", nn.MaxPool2d(2)), ("flatten", nn.Flatten()),
                ("fc1", nn.Linear(400, 120)), ("relu3", nn.ReLU()),
                ("fc2", nn.Linear(120, 84)), ("relu4", nn.ReLU()), ("fc3", nn.Linear(84, 10)),
                ("softmax", nn.Softmax(dim=1))]:
            self.add_module(name, module)


class Add(nn.Module):
    def forward(self, left, right):
        return left + right


class Block(nn.Module):
    """Two 3×3 convolutions and a shortcut; 1×1 convolution (option B) where the shape changes."""

    def __init__(self, channels_in, channels, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(channels_in, channels, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(channels)
        self.relu1 = nn.ReLU()
        self.conv2 = nn.Conv2d(channels, channels, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(channels)
        self.shortcut = None
        if stride != 1 or channels_in != channels:
            self.shortcut = nn.Sequential()
            self.shortcut.add_module("conv",
                                     nn.Conv2d(channels_in, channels, 1, stride, bias=False))
            self.shortcut.add_module("bn", nn.BatchNorm2d(channels))
        self.add = Add()
        self.relu2 = nn.ReLU()

    def forward(self, x):
        y = self.bn2(self.conv2(self.relu1(self.bn1(self.conv1(x)))))
        return self.relu2(self.add(y, self.shortcut(x) if self.shortcut else x))


class ResNet20(nn.Module):
    """ResNet-20 for 32×32 (He et al. 2016, section 4.2): 3 stages of 3 blocks; ends in logits."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 16, 3, 1, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(16)
        self.relu1 = nn.ReLU()
        for number, (channels_in, channels, stride) in enumerate(
                [(16, 16, 1), (16, 32, 2), (32, 64, 2)], start=1):
            self.add_module(f"stage{number}", nn.Sequential(
                Block(channels_in, channels, stride), Block(channels, channels, 1),
                Block(channels, channels, 1)))
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.flatten = nn.Flatten()
        self.fc = nn.Linear(64, 10)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")

    def forward(self, x):
        x = self.relu1(self.bn1(self.conv1(x)))
        x = self.stage3(self.stage2(self.stage1(x)))
        return self.fc(self.flatten(self.pool(x)))
