"""A generated set of ten textures and shapes, 32×32 RGB: in place of CIFAR-10.

It is drawn by the rules below from a seed; no photograph is in it. Contrast, size, angle and
colour vary and noise lies over everything, so that a good network makes a few mistakes and one
with a wrong kernel makes many.
"""
import numpy as np

LABELS = ["stripes", "waves", "checks", "dots", "rings", "spiral", "disc", "square", "triangle",
          "cross"]
NOISE = 0.18  # standard deviation of the noisiest pictures; pixels run from 0 to 1


def _edge(distance):
    """Signed distance in pixels (negative inside) → coverage 0..1 with a soft edge."""
    return np.clip(0.5 - distance, 0, 1)


def _wave(phase):
    return 0.5 + 0.5 * np.tanh(2.5 * np.sin(phase))


def stripes(rng, x, y):
    return _wave(2 * np.pi * x / rng.uniform(4, 9) + rng.uniform(0, 6.28))


def waves(rng, x, y):
    bend = rng.uniform(1.2, 3.0) * np.sin(2 * np.pi * y / rng.uniform(9, 18) + rng.uniform(0, 6.28))
    return _wave(2 * np.pi * (x + bend) / rng.uniform(4, 9) + rng.uniform(0, 6.28))


def checks(rng, x, y):
    period = rng.uniform(6, 12)
    a = np.sin(2 * np.pi * x / period + rng.uniform(0, 6.28))
    b = np.sin(2 * np.pi * y / period + rng.uniform(0, 6.28))
    return 0.5 + 0.5 * np.tanh(6 * a * b)


def dots(rng, x, y):
    period = rng.uniform(6, 11)
    dx = (x + rng.uniform(0, period)) % period - period / 2
    dy = (y + rng.uniform(0, period)) % period - period / 2
    return _edge(np.hypot(dx, dy) - period * rng.uniform(0.25, 0.36))


def rings(rng, x, y):
    radius = np.hypot(x - rng.uniform(-6, 6), y - rng.uniform(-6, 6))
    return _wave(2 * np.pi * radius / rng.uniform(4, 8) + rng.uniform(0, 6.28))


def spiral(rng, x, y):
    dx, dy = x - rng.uniform(-6, 6), y - rng.uniform(-6, 6)
    arms = rng.choice([-2, -1, 1, 2])
    turn = arms * np.arctan2(dy, dx)
    return _wave(2 * np.pi * np.hypot(dx, dy) / rng.uniform(4, 8) + turn + rng.uniform(0, 6.28))


def disc(rng, x, y):
    return _edge(np.hypot(x, y) - rng.uniform(5, 10))


def square(rng, x, y):
    return _edge(np.maximum(abs(x), abs(y)) - rng.uniform(4.5, 9))


def triangle(rng, x, y):
    sides = [x * np.cos(a) + y * np.sin(a) for a in (0.5 * np.pi, 1.1667 * np.pi, 1.8333 * np.pi)]
    return _edge(np.maximum.reduce(sides) - rng.uniform(3.5, 6))


def cross(rng, x, y):
    length = rng.uniform(6, 11)
    width = length * rng.uniform(0.22, 0.4)
    bar = np.maximum(abs(x) - length, abs(y) - width)
    return _edge(np.minimum(bar, np.maximum(abs(x) - width, abs(y) - length)))


DRAW = [stripes, waves, checks, dots, rings, spiral, disc, square, triangle, cross]
assert [draw.__name__ for draw in DRAW] == LABELS


def one(rng, label):
    """Returns a picture of the class LABEL, 3×32×32 uint8, and where it is drawn, 32×32 from 0 to 1."""
    row, column = np.indices((32, 32)) - 15.5
    shift = rng.uniform(-4, 4, 2)
    angle = rng.uniform(0, 2 * np.pi)
    x = (column - shift[0]) * np.cos(angle) + (row - shift[1]) * np.sin(angle)
    y = (row - shift[1]) * np.cos(angle) - (column - shift[0]) * np.sin(angle)
    mask = DRAW[label](rng, x, y)

    direction = rng.normal(size=3)
    contrast = rng.uniform(0.22, 0.8) * direction / np.linalg.norm(direction)
    light = rng.uniform(-0.2, 0.2, (3, 2)) @ np.stack([column.ravel(), row.ravel()]) / 32
    picture = (rng.uniform(0.25, 0.75, (3, 1, 1)) + contrast[:, None, None] * (mask - 0.5)
               + light.reshape(3, 32, 32))
    picture += rng.normal(scale=rng.uniform(0.04, NOISE), size=picture.shape)
    return np.rint(np.clip(picture, 0, 1) * 255).astype(np.uint8), mask


def make_masked(seed, count, first=0):
    """Returns (images COUNT×3×32×32 uint8, labels, masks COUNT×32×32 uint8, 1 where drawn).

    The classes from FIRST on come in equal shares, in mixed order.
    """
    rng = np.random.default_rng(seed)
    labels = rng.permutation(first + np.arange(count) % (10 - first)).astype(np.uint8)
    images, masks = zip(*(one(rng, label) for label in labels))
    return np.stack(images), labels, (np.stack(masks) > 0.5).astype(np.uint8)


def make(seed, count):
    """As make_masked, without the masks."""
    return make_masked(seed, count)[:2]
