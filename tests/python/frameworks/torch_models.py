"""The five models in PyTorch, small and with random weights of a seed: (module, inputs by name)."""
import torch
from torch import nn
from torch.nn import functional as F


class LeNet5(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 6, 5, padding=2), nn.Conv2d(6, 16, 5)
        self.fc1, self.fc2, self.fc3 = nn.Linear(400, 120), nn.Linear(120, 84), nn.Linear(84, 10)

    def forward(self, image):
        x = F.max_pool2d(F.relu(self.conv1(image)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        x = F.relu(self.fc2(F.relu(self.fc1(torch.flatten(x, 1)))))
        return F.softmax(self.fc3(x), 1)


class Residual(nn.Module):
    def __init__(self, before, after, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(before, after, 3, stride, 1, bias=False)
        self.bn1, self.bn2 = nn.BatchNorm2d(after), nn.BatchNorm2d(after)
        self.conv2 = nn.Conv2d(after, after, 3, 1, 1, bias=False)
        self.short = nn.Conv2d(before, after, 1, stride) if stride > 1 else nn.Identity()

    def forward(self, x):
        y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        return F.relu(y + self.short(x))


class ResNet20(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem, self.bn = nn.Conv2d(3, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16)
        widths = [16, 16, 16, 16, 32, 32, 32, 64, 64, 64]
        self.blocks = nn.Sequential(*[Residual(a, b, 2 if a != b else 1) for a, b in zip(widths, widths[1:])])
        self.fc = nn.Linear(64, 10)

    def forward(self, image):
        x = self.blocks(F.relu(self.bn(self.stem(image))))
        return self.fc(x.mean((2, 3)))


class InvertedResidual(nn.Module):
    def __init__(self, before, after, stride, expand):
        super().__init__()
        wide = before * expand
        self.expand = nn.Sequential(nn.Conv2d(before, wide, 1, bias=False), nn.BatchNorm2d(wide), nn.ReLU6())
        self.depthwise = nn.Sequential(nn.Conv2d(wide, wide, 3, stride, 1, groups=wide, bias=False),
                                       nn.BatchNorm2d(wide), nn.ReLU6())
        self.project = nn.Sequential(nn.Conv2d(wide, after, 1, bias=False), nn.BatchNorm2d(after))
        self.same = stride == 1 and before == after

    def forward(self, x):
        y = self.project(self.depthwise(self.expand(x)))
        return x + y if self.same else y


class MobileNetV2(nn.Module):
    """Its rows of (expansion, channels, repeats, stride), with a third of the channels, for 64 × 64 pixels."""

    def __init__(self):
        super().__init__()
        rows = [(1, 8, 1, 1), (6, 8, 2, 2), (6, 16, 3, 2), (6, 24, 4, 2), (6, 32, 3, 1), (6, 56, 3, 2), (6, 112, 1, 1)]
        self.stem, channels, blocks = nn.Conv2d(3, 16, 3, 2, 1), 16, []
        for expand, after, repeats, stride in rows:
            for place in range(repeats):
                blocks.append(InvertedResidual(channels, after, stride if place == 0 else 1, expand))
                channels = after
        self.blocks, self.head, self.fc = nn.Sequential(*blocks), nn.Conv2d(112, 256, 1), nn.Linear(256, 10)

    def forward(self, image):
        x = F.relu6(self.head(self.blocks(F.relu6(self.stem(image)))))
        return self.fc(torch.flatten(F.adaptive_avg_pool2d(x, 1), 1))


class Lstm(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.lstm = nn.Embedding(50, 16), nn.LSTM(16, 24, batch_first=True)
        self.fc = nn.Linear(24, 16)

    def forward(self, tokens):
        states, _ = self.lstm(self.embed(tokens))
        return self.fc(states[:, -1])


class Attention(nn.Module):
    def __init__(self, width=32, heads=4):
        super().__init__()
        self.heads, self.query, self.key = heads, nn.Linear(width, width), nn.Linear(width, width)
        self.value, self.out = nn.Linear(width, width), nn.Linear(width, width)

    def split(self, x):
        return x.reshape(x.shape[0], x.shape[1], self.heads, -1).transpose(1, 2)

    def forward(self, x):
        q, k, v = self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x))
        weights = torch.softmax(q @ k.transpose(2, 3) / q.shape[-1] ** 0.5, -1)
        return self.out((weights @ v).transpose(1, 2).reshape(x.shape))


class Transformer(nn.Module):
    def __init__(self, width=32, layers=2):
        super().__init__()
        self.embed, self.place = nn.Embedding(50, width), nn.Parameter(torch.randn(1, 12, width))
        self.attention = nn.ModuleList(Attention(width) for _ in range(layers))
        self.norm1 = nn.ModuleList(nn.LayerNorm(width) for _ in range(layers))
        self.norm2 = nn.ModuleList(nn.LayerNorm(width) for _ in range(layers))
        self.wide = nn.ModuleList(nn.Linear(width, 4 * width) for _ in range(layers))
        self.narrow = nn.ModuleList(nn.Linear(4 * width, width) for _ in range(layers))
        self.head = nn.Linear(width, 10)

    def forward(self, tokens):
        x = self.embed(tokens) + self.place
        for attention, norm1, norm2, wide, narrow in zip(self.attention, self.norm1, self.norm2, self.wide, self.narrow):
            x = x + attention(norm1(x))
            x = x + narrow(F.gelu(wide(norm2(x))))
        return self.head(x.mean(1))


MODELS = {"lenet5": LeNet5, "resnet20": ResNet20, "mobilenetv2": MobileNetV2, "lstm": Lstm, "transformer": Transformer}
# A layer with a bias in the middle of each, whose output no later layer makes equal again.
PLANTED = {"lenet5": "conv2", "resnet20": "blocks.3.bn2", "mobilenetv2": "blocks.5.project.1", "lstm": "fc",
           "transformer": "narrow.0"}


def make(name, seed=7):
    torch.manual_seed(seed)
    model = MODELS[name]().eval()
    for part in model.modules():  # of a trained model, no two values are equal by chance
        if isinstance(part, nn.BatchNorm2d):
            nn.init.uniform_(part.running_mean, -0.3, 0.3)
            nn.init.uniform_(part.running_var, 0.5, 1.5)
            nn.init.uniform_(part.weight, 0.7, 1.3)
            nn.init.uniform_(part.bias, -0.2, 0.2)
    if name in ("lstm", "transformer"):
        return model, {"tokens": torch.randint(0, 50, (1, 12))}
    shape = {"lenet5": (1, 1, 28, 28), "resnet20": (1, 3, 32, 32), "mobilenetv2": (1, 3, 64, 64)}[name]
    return model, {"image": torch.randn(shape)}


def plant(model, name):
    """Changes one bias of MODEL; returns the layer's name."""
    part = model.get_submodule(PLANTED[name])
    with torch.no_grad():
        part.bias[1] += 0.25
    return PLANTED[name]
