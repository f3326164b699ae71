"""The five models in MXNet's Gluon, small and with random weights of a seed: (block, inputs by name)."""
import mxnet
import numpy as np
from mxnet.gluon import nn, rnn


def stack(*layers):
    block = nn.HybridSequential()
    block.add(*layers)
    return block


def lenet5():
    return stack(nn.Conv2D(6, 5, padding=2, activation="relu"), nn.MaxPool2D(), nn.Conv2D(16, 5, activation="relu"),
                 nn.MaxPool2D(), nn.Flatten(), nn.Dense(120, activation="relu"), nn.Dense(84, activation="relu"),
                 nn.Dense(10))


class Residual(nn.HybridBlock):
    def __init__(self, after, stride):
        super().__init__()
        with self.name_scope():
            self.body = stack(nn.Conv2D(after, 3, stride, 1, use_bias=False), nn.BatchNorm(), nn.Activation("relu"),
                              nn.Conv2D(after, 3, 1, 1, use_bias=False), nn.BatchNorm())
            self.short = nn.Conv2D(after, 1, stride) if stride > 1 else None

    def hybrid_forward(self, F, x):
        return F.relu(self.body(x) + (self.short(x) if self.short is not None else x))


def resnet20():
    blocks = [Residual(after, stride) for after, stride in
              ((16, 1), (16, 1), (16, 1), (32, 2), (32, 1), (32, 1), (64, 2), (64, 1), (64, 1))]
    return stack(nn.Conv2D(16, 3, padding=1, use_bias=False), nn.BatchNorm(), nn.Activation("relu"), *blocks,
                 nn.GlobalAvgPool2D(), nn.Dense(10))


class Inverted(nn.HybridBlock):
    def __init__(self, before, after, stride, expand):
        super().__init__()
        wide = before * expand
        self.same = stride == 1 and before == after
        with self.name_scope():
            self.expand = stack(nn.Conv2D(wide, 1, use_bias=False), nn.BatchNorm())
            self.depthwise = stack(nn.Conv2D(wide, 3, stride, 1, groups=wide, use_bias=False), nn.BatchNorm())
            self.project = stack(nn.Conv2D(after, 1, use_bias=False), nn.BatchNorm())

    def hybrid_forward(self, F, x):
        y = F.clip(self.depthwise(F.clip(self.expand(x), 0, 6)), 0, 6)
        return x + self.project(y) if self.same else self.project(y)


def mobilenetv2():
    rows = [(1, 8, 1, 1), (6, 8, 2, 2), (6, 16, 3, 2), (6, 24, 4, 2), (6, 32, 3, 1), (6, 56, 3, 2), (6, 112, 1, 1)]
    blocks, before = [], 16
    for expand, after, repeats, stride in rows:
        for place in range(repeats):
            blocks.append(Inverted(before, after, stride if place == 0 else 1, expand))
            before = after
    return stack(nn.Conv2D(16, 3, 2, 1, activation="relu"), *blocks, nn.Conv2D(256, 1, activation="relu"),
                 nn.GlobalAvgPool2D(), nn.Dense(10))


class Attention(nn.HybridBlock):
    def __init__(self, width):
        super().__init__()
        with self.name_scope():
            self.norm1, self.norm2 = nn.LayerNorm(), nn.LayerNorm()
            self.query, self.key, self.value, self.out = (nn.Dense(width, flatten=False) for _ in range(4))
            self.wide, self.narrow = nn.Dense(4 * width, flatten=False, activation="relu"), nn.Dense(width, flatten=False)

    def hybrid_forward(self, F, x):
        y = self.norm1(x)
        weights = F.softmax(F.batch_dot(self.query(y), self.key(y), transpose_b=True) * 0.125, axis=-1)
        x = x + self.out(F.batch_dot(weights, self.value(y)))
        return x + self.narrow(self.wide(self.norm2(x)))


def transformer():
    return stack(nn.Embedding(50, 32), Attention(32), Attention(32), nn.Flatten(), nn.Dense(10))


class Lstm(nn.HybridBlock):
    def __init__(self):
        super().__init__()
        with self.name_scope():
            self.embed, self.lstm, self.fc = nn.Embedding(50, 16), rnn.LSTM(24, layout="TNC"), nn.Dense(16)

    def hybrid_forward(self, F, tokens):
        states = self.lstm(F.transpose(self.embed(tokens), axes=(1, 0, 2)))
        return self.fc(F.squeeze(F.slice_axis(states, axis=0, begin=11, end=12), axis=0))


MODELS = {"lenet5": lenet5, "resnet20": resnet20, "mobilenetv2": mobilenetv2, "lstm": Lstm, "transformer": transformer}
# The bias (or beta) of this number, in the order of the parameters, is in the middle of the model.
PLANTED = {"lenet5": 1, "resnet20": 7, "mobilenetv2": 9, "lstm": -1, "transformer": 5}


def make(name, seed=7):
    mxnet.random.seed(seed)
    random = np.random.RandomState(seed)
    block = MODELS[name]()
    block.initialize(mxnet.init.Xavier())
    shape = {"lenet5": (1, 1, 28, 28), "resnet20": (1, 3, 32, 32), "mobilenetv2": (1, 3, 64, 64)}.get(name)
    inputs = {"data": (random.standard_normal(shape) if shape else random.randint(0, 50, (1, 12))).astype(np.float32)}
    block.hybridize()
    block(mxnet.nd.array(inputs["data"]))
    for key, parameter in block.collect_params().items():
        low, high = (0.5, 1.5) if key.endswith(("var", "gamma")) else (-0.2, 0.2)
        if key.endswith(("bias", "beta", "gamma", "running_mean", "running_var")):
            parameter.set_data(mxnet.nd.array(random.uniform(low, high, parameter.shape)))
    return block, inputs


def plant(block, name):
    """Changes one bias of BLOCK; returns the name of its layer."""
    biases = [key for key in block.collect_params() if key.endswith(("bias", "beta")) and "2h_" not in key]
    key = biases[PLANTED[name]]
    parameter = block.collect_params()[key]
    value = parameter.data().asnumpy()
    value[1] += 0.25
    parameter.set_data(mxnet.nd.array(value))
    return key.rpartition("_")[0]
