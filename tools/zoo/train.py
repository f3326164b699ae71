"""Trains a classifier on the CPU, seeded: same PyTorch, same threads, same weights."""
import math
import time

import numpy as np
import torch
from torch.nn import functional


def _affine(batch, generator, degrees, scale, shift):
    """Turns, scales and shifts each picture at random; SHIFT is a fraction of the half width."""
    def draw(limit):
        return (torch.rand(len(batch), generator=generator) * 2 - 1) * limit

    angle, zoom = draw(math.radians(degrees)), 1 + draw(scale)
    cos, sin = torch.cos(angle) * zoom, torch.sin(angle) * zoom
    matrix = torch.stack([torch.stack([cos, -sin, draw(shift)], 1),
                          torch.stack([sin, cos, draw(shift)], 1)], 1)
    grid = functional.affine_grid(matrix, batch.shape, align_corners=False)
    return functional.grid_sample(batch, grid, padding_mode="border", align_corners=False)


def _crop_and_flip(batch, generator):
    """The usual augmentation for CIFAR-10: mirrored by chance, shifted by up to 4 pixels."""
    flip = torch.rand(len(batch), generator=generator) < 0.5
    batch = torch.where(flip[:, None, None, None], batch.flip(3), batch)
    row, column = torch.randint(0, 9, (2,), generator=generator).tolist()
    size = batch.shape[2]
    padded = functional.pad(batch, (4, 4, 4, 4), mode="reflect")
    return padded[:, :, row:row + size, column:column + size]


def _less_padding(batch, generator):
    """Drops most of the padding in front of all of a batch's texts, but not always as much: recurrent
    layers learn in a third of the time, and still to wait for the first word."""
    first = int((batch != 0).any(0).nonzero()[0]) if batch.any() else 0
    return batch[:, max(0, first - int(torch.randint(0, 24, (), generator=generator))):]


AUGMENT = {"none": lambda batch, g: batch, "texts": _less_padding,
           "digits": lambda batch, g: _affine(batch, g, degrees=12, scale=0.12, shift=0.12),
           "pictures": _crop_and_flip}


def train(model, inputs, labels, *, steps, batch, learning_rate, augment, seed, say=print,
          optimizer="sgd"):
    """A one-cycle rate on INPUTS, by SGD with momentum or by Adam; leaves MODEL in eval mode."""
    generator = torch.Generator().manual_seed(seed)
    inputs, labels = torch.from_numpy(inputs), torch.from_numpy(labels.astype(np.int64))
    softmax = getattr(model, "softmax", None)
    if softmax is not None:  # cross entropy wants the logits
        model.softmax = torch.nn.Identity()
    if optimizer == "adam":
        optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate)
    else:
        optimizer = torch.optim.SGD(model.parameters(), lr=learning_rate, momentum=0.9,
                                    nesterov=True, weight_decay=5e-4)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, learning_rate, steps)
    model.train()
    started, order, at, shown = time.monotonic(), torch.empty(0, dtype=torch.int64), 0, 0.0
    for step in range(1, steps + 1):
        if at + batch > len(order):
            order, at = torch.randperm(len(inputs), generator=generator), 0
        pick = order[at:at + batch]
        at += batch
        loss = functional.cross_entropy(model(AUGMENT[augment](inputs[pick], generator)),
                                        labels[pick])
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        schedule.step()
        shown = 0.95 * shown + 0.05 * loss.item() if step > 1 else loss.item()
        if step % max(1, steps // 10) == 0 or step == steps:
            say(f"  step {step}/{steps}  loss {shown:.3f}  {time.monotonic() - started:.0f} s")
    if softmax is not None:
        model.softmax = softmax
    model.eval()


@torch.no_grad()
def predict(model, inputs):
    """Returns (class per sample, or per pixel of it, smallest gap between best and second-best)."""
    outputs = torch.cat([model(torch.from_numpy(part)) for part in np.array_split(
        inputs, max(1, len(inputs) // 100))])
    best = outputs.topk(2, dim=1)
    return best.indices[:, 0].numpy(), float((best.values[:, 0] - best.values[:, 1]).min())
