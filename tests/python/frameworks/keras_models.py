"""The five models in Keras 3, small and with random weights of a seed: (model, inputs by name).

LeNet-5 and the transformer are subclassed models, the others functional.
"""
import keras
import numpy as np
from keras import layers


class LeNet5(keras.Model):
    def __init__(self):
        super().__init__(name="lenet5")
        self.conv1 = layers.Conv2D(6, 5, padding="same", activation="relu", name="conv1")
        self.conv2 = layers.Conv2D(16, 5, activation="relu", name="conv2")
        self.pool1, self.pool2 = layers.MaxPooling2D(name="pool1"), layers.MaxPooling2D(name="pool2")
        self.flatten = layers.Flatten(name="flatten")
        self.fc1, self.fc2 = (layers.Dense(n, activation="relu", name=f"fc{i}") for i, n in ((1, 120), (2, 84)))
        self.fc3 = layers.Dense(10, activation="softmax", name="fc3")

    def call(self, image):
        x = self.pool2(self.conv2(self.pool1(self.conv1(image))))
        return self.fc3(self.fc2(self.fc1(self.flatten(x))))


def resnet20():
    image = x = keras.Input((32, 32, 3), 1, name="image")
    x = layers.ReLU()(layers.BatchNormalization(name="bn")(layers.Conv2D(16, 3, padding="same", use_bias=False)(x)))
    before = 16
    for place, after in enumerate([16, 16, 16, 32, 32, 32, 64, 64, 64]):
        stride = 2 if after != before else 1
        y = layers.Conv2D(after, 3, stride, "same", use_bias=False, name=f"block{place}_conv1")(x)
        y = layers.ReLU()(layers.BatchNormalization(name=f"block{place}_bn1")(y))
        y = layers.Conv2D(after, 3, 1, "same", use_bias=False, name=f"block{place}_conv2")(y)
        y = layers.BatchNormalization(name=f"block{place}_bn2")(y)
        short = layers.Conv2D(after, 1, stride, name=f"block{place}_short")(x) if stride > 1 else x
        x, before = layers.ReLU()(layers.Add()([y, short])), after
    return keras.Model(image, layers.Dense(10, name="fc")(layers.GlobalAveragePooling2D()(x)), name="resnet20")


def mobilenetv2():
    return keras.applications.MobileNetV2(input_shape=(64, 64, 3), alpha=0.35, weights=None, classes=10)


def lstm():
    tokens = keras.Input((12,), 1, dtype="int32", name="tokens")
    x = layers.LSTM(24, name="lstm")(layers.Embedding(50, 16, name="embed")(tokens))
    return keras.Model(tokens, layers.Dense(16, name="fc")(x), name="lstm")


class Block(layers.Layer):
    def __init__(self, width, name):
        super().__init__(name=name)
        self.norm1, self.norm2 = layers.LayerNormalization(name="norm1"), layers.LayerNormalization(name="norm2")
        self.attention = layers.MultiHeadAttention(4, width // 4, name="attention")
        self.wide = layers.Dense(4 * width, name="wide")
        self.narrow = layers.Dense(width, name="narrow")

    def call(self, x):
        y = self.norm1(x)
        x = x + self.attention(y, y)
        return x + self.narrow(keras.activations.gelu(self.wide(self.norm2(x)), approximate=True))


class Transformer(keras.Model):
    def __init__(self, width=32):
        super().__init__(name="transformer")
        self.embed, self.place = layers.Embedding(50, width, name="embed"), layers.Embedding(12, width, name="place")
        self.blocks = [Block(width, f"block{i}") for i in range(2)]
        self.head = layers.Dense(10, name="head")

    def call(self, tokens):
        x = self.embed(tokens) + self.place(keras.ops.arange(12))
        for block in self.blocks:
            x = block(x)
        return self.head(keras.ops.mean(x, 1))


MODELS = {"lenet5": LeNet5, "resnet20": resnet20, "mobilenetv2": mobilenetv2, "lstm": lstm, "transformer": Transformer}
PLANTED = {"lenet5": "conv2", "resnet20": "block3_bn2", "mobilenetv2": "block_5_project_BN", "lstm": "fc",
           "transformer": "block0/narrow"}


def make(name, seed=7):
    keras.utils.set_random_seed(seed)
    random = np.random.default_rng(seed)
    tokens = name in ("lstm", "transformer")
    shape = {"lenet5": (1, 28, 28, 1), "resnet20": (1, 32, 32, 3), "mobilenetv2": (1, 64, 64, 3)}.get(name)
    inputs = (random.integers(0, 50, (1, 12)).astype(np.int32) if tokens
              else random.standard_normal(shape).astype(np.float32))
    model = MODELS[name]()
    model(inputs)  # makes the weights of a subclassed model
    for variable in model.weights:  # as in a trained model; fresh biases are zero
        if "variance" in variable.path:
            variable.assign(random.uniform(0.5, 1.5, variable.shape))
        elif len(variable.shape) == 1 and "seed" not in variable.path:
            variable.assign(variable.numpy() + random.uniform(-0.2, 0.2, variable.shape))
    return model, {"tokens" if tokens else "image": inputs}


def plant(model, name):
    """Changes one bias of MODEL; returns the layer's name."""
    for variable in model.weights:
        if variable.path.endswith((f"{PLANTED[name]}/bias", f"{PLANTED[name]}/beta")):
            value = variable.numpy()
            value[1] += 0.25
            variable.assign(value)
            return PLANTED[name]
    raise AssertionError(f"{name}: no bias in {PLANTED[name]}: {[v.path for v in model.weights]}")
