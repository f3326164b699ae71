"""The full-size architectures, with seeded random weights, and what their inputs are.

The definitions of ResNet-18, ResNet-50, MobileNetV2 and InceptionV3 are torchvision's. Where a network
has batch normalization, its statistics come from one pass over seeded noise, so that activations
keep the size that they have in a trained network.
"""
from dataclasses import dataclass
from typing import Callable

import torch
import torchvision
from torch import nn

import models
import preprocess
import text_models
from unet import UNet
from vgg import VGG16

WORDS = 20000
IMAGENET = {"mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225]}


@dataclass
class Full:
    build: Callable
    shape: tuple                # of one input
    output: str                 # name of the result
    describe: Callable = None   # → preprocessing description; None where there is no data set for it
    what: str = ""

    @property
    def text(self):
        return len(self.shape) == 2

    def sample(self, generator, count=1):
        shape = (count, *self.shape[1:])
        if self.text:
            return torch.randint(0, WORDS, shape, generator=generator)
        return torch.randn(shape, generator=generator)


def pictures(side, resize):
    """ImageNet's usual way: shorter side to RESIZE, centre crop, normalized."""
    description = preprocess.describe(3, side, side, "RGB", IMAGENET["mean"], IMAGENET["std"], [])
    description["resize"] = {"rule": "shorter_side", "size": resize, "antialias": True}
    description["crop"] = "center"
    return description


def imagenet(name, side=224, resize=256, **options):
    build = getattr(torchvision.models, name)
    return Full(lambda: build(weights=None, **options), (1, 3, side, side), "logits",
                lambda: pictures(side, resize), f"torchvision's {name}, 1000 classes")


def small(build, side, channels, what, output="logits"):
    return Full(build, (1, channels, side, side), output, None, what)


CATALOGUE = {
    "lenet1": small(models.LeNet1, 28, 1, "LeNet-1", "probabilities"),
    "lenet5": small(models.LeNet5, 28, 1, "LeNet-5", "probabilities"),
    "resnet20": small(models.ResNet20, 32, 3, "ResNet-20 for 32×32"),
    "vgg16": small(VGG16, 32, 3, "VGG-16 for 32×32 with 4096-wide layers, 134 MB"),
    "textcnn": Full(lambda: text_models.TextCNN(WORDS, 128, 128), (1, 400), "probabilities",
                    what="TextCNN, 400 of 20,000 words, embedding 128"),
    "lstm": Full(lambda: text_models.LSTM(WORDS, 128, 128), (1, 400), "probabilities",
                 what="LSTM, 400 of 20,000 words, embedding and state 128"),
    "gru": Full(lambda: text_models.GRU(WORDS, 128, 128), (1, 400), "probabilities",
                what="GRU, 400 of 20,000 words, embedding and state 128"),
    "resnet18": imagenet("resnet18"),
    "resnet50": imagenet("resnet50"),
    "mobilenetv2": imagenet("mobilenet_v2"),
    "inceptionv3": imagenet("inception_v3", 299, 342, init_weights=False),
    "transformer": Full(lambda: text_models.Transformer(WORDS, 128, 128, 4, 512, 4), (1, 128),
                        "probabilities", what="transformer encoder, 4 layers of 128"),
    "unet": small(lambda: UNet(32, 4), 128, 3, "U-Net, 4 levels, 32 channels at the top"),
}


@torch.no_grad()
def build(name, seed):
    """Returns (model in eval mode, one sample input)."""
    entry = CATALOGUE[name]
    torch.manual_seed(seed)
    model = entry.build()
    generator = torch.Generator().manual_seed(seed + 1)
    norms = [m for m in model.modules() if isinstance(m, (nn.BatchNorm1d, nn.BatchNorm2d))]
    if norms:
        for norm in norms:
            norm.momentum = None  # the plain mean over what it sees
        for module in model.modules():
            if isinstance(module, nn.Dropout):
                module.p = 0.0
        model.train()
        model(entry.sample(generator, 4))
    model.eval()
    return model, entry.sample(generator)
