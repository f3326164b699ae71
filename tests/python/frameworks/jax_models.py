"""The five models in JAX alone, small and with random weights of a seed: (function of the inputs, inputs, plant).

Parameters are a dictionary that the function closes over; plant() changes one bias of it.
"""
import jax
import numpy as np
from jax import lax
from jax import numpy as jnp
from jax.ad_checkpoint import checkpoint_name


class Weights:
    """Makes parameters as they are asked for, by name, and keeps them."""

    def __init__(self, seed):
        self.random, self.kept = np.random.default_rng(seed), {}

    def get(self, name, shape, low=None, high=None):
        if name not in self.kept:
            fan = np.prod(shape[:-1]) or 1
            value = (self.random.uniform(low, high, shape) if low is not None
                     else self.random.standard_normal(shape) * (2 / fan) ** 0.5)
            self.kept[name] = value.astype(np.float32)
        return self.kept[name]


def conv(w, name, x, after, size, stride=1, padding="SAME", groups=1):
    kernel = w.get(f"{name}.w", (size, size, x.shape[-1] // groups, after))
    with jax.named_scope(name):
        y = lax.conv_general_dilated(x, kernel, (stride, stride), padding, feature_group_count=groups,
                                     dimension_numbers=("NHWC", "HWIO", "NHWC"))
        return checkpoint_name(y + w.get(f"{name}.b", (after,), -0.2, 0.2), name)


def dense(w, name, x, after):
    with jax.named_scope(name):
        y = x @ w.get(f"{name}.w", (x.shape[-1], after)) + w.get(f"{name}.b", (after,), -0.2, 0.2)
        return checkpoint_name(y, name)


def pool(x):
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


def relu(x):
    return jnp.maximum(x, 0.0)


def relu6(x):
    return jnp.minimum(jnp.maximum(x, 0.0), 6.0)


def norm(w, name, x):
    with jax.named_scope(name):
        centred = x - jnp.mean(x, -1, keepdims=True)
        scaled = centred / jnp.sqrt(jnp.mean(centred * centred, -1, keepdims=True) + 1e-5)
        return scaled * w.get(f"{name}.w", (x.shape[-1],), 0.7, 1.3) + w.get(f"{name}.b", (x.shape[-1],), -0.2, 0.2)


def lenet5(w, image):
    x = pool(relu(conv(w, "conv1", image, 6, 5)))
    x = pool(relu(conv(w, "conv2", x, 16, 5, padding="VALID"))).reshape(1, -1)
    x = relu(dense(w, "fc2", relu(dense(w, "fc1", x, 120)), 84))
    return jax.nn.softmax(dense(w, "fc3", x, 10))


def resnet20(w, image):
    x, before = relu(conv(w, "stem", image, 16, 3)), 16
    for place, after in enumerate([16, 16, 16, 32, 32, 32, 64, 64, 64]):
        stride, name = 2 if after != before else 1, f"block{place}"
        y = conv(w, f"{name}.conv2", relu(conv(w, f"{name}.conv1", x, after, 3, stride)), after, 3) * 0.5
        short = conv(w, f"{name}.short", x, after, 1, stride) if stride > 1 else x
        x, before = relu(y + short), after
    return dense(w, "fc", jnp.mean(x, (1, 2)), 10)


def mobilenetv2(w, image):
    rows = [(1, 8, 1, 1), (6, 8, 2, 2), (6, 16, 3, 2), (6, 24, 4, 2), (6, 32, 3, 1), (6, 56, 3, 2), (6, 112, 1, 1)]
    x, block = relu6(conv(w, "stem", image, 16, 3, 2)), 0
    for expand, after, repeats, stride in rows:
        for place in range(repeats):
            step, wide = stride if place == 0 else 1, x.shape[-1] * expand
            y = relu6(conv(w, f"block{block}.expand", x, wide, 1))
            y = relu6(conv(w, f"block{block}.depthwise", y, wide, 3, step, groups=wide))
            y = conv(w, f"block{block}.project", y, after, 1)
            x, block = x + y if step == 1 and x.shape == y.shape else y, block + 1
    return dense(w, "fc", jnp.mean(relu6(conv(w, "head", x, 256, 1)), (1, 2)), 10)


def lstm(w, tokens):
    x = jnp.take(w.get("embed", (50, 16), -1, 1), tokens, axis=0, mode="clip")
    # Outside the loop, which closes over them.
    inner, outer, bias = w.get("lstm.w", (16, 96)), w.get("lstm.u", (24, 96)), w.get("lstm.b", (96,), -0.2, 0.2)

    def step(state, now):
        hidden, cell = state
        i, f, g, o = jnp.split(now @ inner + hidden @ outer + bias, 4, -1)
        cell = jax.nn.sigmoid(f) * cell + jax.nn.sigmoid(i) * jnp.tanh(g)
        hidden = jax.nn.sigmoid(o) * jnp.tanh(cell)
        return (hidden, cell), hidden

    zero = jnp.zeros((1, 24), jnp.float32)
    (hidden, _), _ = lax.scan(step, (zero, zero), jnp.swapaxes(x, 0, 1))
    return dense(w, "fc", hidden, 16)


def transformer(w, tokens):
    x = jnp.take(w.get("embed", (50, 32), -1, 1), tokens, axis=0, mode="clip") + w.get("place", (1, 12, 32), -1, 1)

    def heads(y):
        return jnp.transpose(y.reshape(1, 12, 4, 8), (0, 2, 1, 3))

    for place in range(2):
        name = f"block{place}"
        y = norm(w, f"{name}.norm1", x)
        q, k, v = (heads(dense(w, f"{name}.{part}", y, 32)) for part in ("query", "key", "value"))
        weights = jax.nn.softmax(q @ jnp.swapaxes(k, 2, 3) / 8 ** 0.5, -1)
        x = x + dense(w, f"{name}.out", jnp.transpose(weights @ v, (0, 2, 1, 3)).reshape(1, 12, 32), 32)
        wide = dense(w, f"{name}.wide", norm(w, f"{name}.norm2", x), 128)
        x = x + dense(w, f"{name}.narrow", wide * jax.nn.sigmoid(1.702 * wide), 32)
    return dense(w, "head", jnp.mean(x, 1), 10)


MODELS = {"lenet5": lenet5, "resnet20": resnet20, "mobilenetv2": mobilenetv2, "lstm": lstm, "transformer": transformer}
PLANTED = {"lenet5": "conv2", "resnet20": "block3.conv2", "mobilenetv2": "block5.project", "lstm": "fc",
           "transformer": "block0.narrow"}


def make(name, seed=7):
    weights, random = Weights(seed), np.random.default_rng(seed)
    shape = {"lenet5": (1, 28, 28, 1), "resnet20": (1, 32, 32, 3), "mobilenetv2": (1, 64, 64, 3)}.get(name)
    inputs = ({"image": random.standard_normal(shape).astype(np.float32)} if shape else
              {"tokens": random.integers(0, 50, (1, 12)).astype(np.int32)})

    def function(**arrays):
        return MODELS[name](weights, *arrays.values())

    function(**inputs)  # makes the weights
    return weights, function, inputs


def plant(weights, name):
    """Changes one bias; returns the layer's name."""
    weights.kept[f"{PLANTED[name]}.b"][1] += 0.25
    return PLANTED[name]
