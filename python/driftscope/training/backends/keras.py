"""Keras 3 on TensorFlow: keras.layers, SparseCategoricalCrossentropy and optimizers.SGD; pictures N×H×W×C inside."""
import os

import numpy as np

from . import FROM_ONNX, TO_ONNX, reorder_gates

NAME, PACKAGES = "keras", ("tensorflow", "keras")


def _layer(layers, name, kind, settings):
    if kind == "conv":
        return layers.Conv2D(settings["channels"], settings["kernel"], name=name,
                             padding="same" if settings.get("same") else "valid")
    if kind in ("relu", "tanh"):
        return layers.Activation(kind, name=name)
    if kind == "max_pool":
        return layers.MaxPooling2D(settings["size"], name=name)
    if kind == "average_pool":
        return layers.AveragePooling2D(settings["size"], name=name)
    if kind == "flatten":
        return layers.Flatten(name=name)
    if kind == "dense":
        return layers.Dense(settings["units"], name=name)
    if kind == "embedding":
        return layers.Embedding(settings["words"], settings["width"], name=name)
    if kind == "lstm":
        return layers.LSTM(settings["units"], return_sequences=True, name=name)
    return layers.Lambda(lambda x: x[:, -1], name=name)


def _channels_first(rows, order):
    """Rows of H, W, C as rows of C, H, W; ORDER is that shape, or None where rows are no pictures."""
    if not order:
        return rows
    channels, height, width = order
    return rows.reshape(-1, height, width, channels).transpose(0, 3, 1, 2).reshape(len(rows), -1)


class Backend:
    def __init__(self, architecture, weights, rate, plant, batch):
        os.environ["KERAS_BACKEND"] = "tensorflow"
        import keras
        import tensorflow as tf

        self.keras, self.tf, self.architecture, self.plant = keras, tf, architecture, plant
        try:
            tf.config.threading.set_intra_op_parallelism_threads(1)
            tf.config.threading.set_inter_op_parallelism_threads(1)
        except RuntimeError:
            pass  # of the second network in this process; the first one has set them
        shape = architecture.input
        x = entry = keras.Input((shape[0],) if architecture.texts else (*shape[1:], shape[0]), batch_size=None,
                                dtype="int32" if architecture.texts else "float32")
        # Flattened pictures lie H, W, C here and C, H, W in ONNX: by layer the shape before, of outputs in that order and of
        # the dense layer that reads them.
        self.layers, outputs, self.reordered, self.reads_reordered = {}, [], {}, {}
        before, order = shape, None
        for name, kind, settings in architecture.layers:
            self.layers[name] = _layer(keras.layers, name, kind, settings)
            x = self.layers[name](x)
            outputs.append(x)
            if kind == "flatten" and len(before) == 3:
                order = before
            elif kind == "dense":
                self.reads_reordered[name], order = order, None
            self.reordered[name] = order
            before = architecture.shapes[name]
        self.model = keras.Model(entry, outputs)
        self.variables = {}
        for name in weights:
            layer, part = name.rsplit(".", 1)
            held = self.layers[layer]
            if architecture_kind(architecture, layer) == "lstm":
                cell = held.cell
                self.variables[name] = {"input": cell.kernel, "recurrent": cell.recurrent_kernel, "bias": cell.bias}[part]
            elif architecture_kind(architecture, layer) == "embedding":
                self.variables[name] = held.embeddings
            else:
                self.variables[name] = held.kernel if part == "weight" else held.bias
            self.variables[name].assign(self._to_keras(name, weights[name]))
        self.trained = [name for name in self.variables if name != plant.frozen]
        self.optimizer = keras.optimizers.SGD(rate * plant.rate, momentum=plant.momentum)
        self.optimizer.build([self.variables[name] for name in self.trained])
        self.loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True,
                                                                  reduction="sum" if plant.sum else "sum_over_batch_size")
        self.smooth_loss = keras.losses.CategoricalCrossentropy(
            from_logits=True, label_smoothing=plant.smoothing, reduction="sum" if plant.sum else "sum_over_batch_size")
        self.compiled_step = tf.function(self._plain_step)
        self.compiled_model = tf.function(lambda x: self.model(x, training=False))

    def _to_keras(self, name, value):
        layer = name.rsplit(".", 1)[0]
        kind = architecture_kind(self.architecture, layer)
        if kind == "lstm":
            return np.ascontiguousarray(reorder_gates(value[0], FROM_ONNX).T)
        if value.ndim == 4:
            return value.transpose(2, 3, 1, 0)
        if kind == "dense" and value.ndim == 2:
            order = self.reads_reordered[layer]
            if order:
                value = value.reshape(-1, *order).transpose(0, 2, 3, 1).reshape(len(value), -1)
            return np.ascontiguousarray(value.T)
        return value

    def _from_keras(self, name, value):
        layer = name.rsplit(".", 1)[0]
        kind = architecture_kind(self.architecture, layer)
        value = np.asarray(value)
        if kind == "lstm":
            return reorder_gates(value.T, TO_ONNX)[None]
        if value.ndim == 4:
            return np.ascontiguousarray(value.transpose(3, 2, 0, 1))
        if kind == "dense" and value.ndim == 2:
            return np.ascontiguousarray(_channels_first(value.T, self.reads_reordered[layer]))
        return value.copy()

    def _value(self, name, value):
        """The output of a layer, or its gradient, as ONNX has it."""
        value = np.asarray(value)
        if value.ndim == 4:
            return np.ascontiguousarray(value.transpose(0, 3, 1, 2))
        return np.array(_channels_first(value, self.reordered[name]), order="C")

    def _inputs(self, x):
        return self.tf.constant(x.astype(np.int32) if self.architecture.texts else x.transpose(0, 2, 3, 1))

    def _loss(self, logits, labels):
        if self.plant.smoothing:
            return self.smooth_loss(self.tf.one_hot(labels, self.architecture.classes), logits)
        return self.loss_of(labels, logits)

    def _plain_step(self, x, labels):
        with self.tf.GradientTape() as tape:
            loss = self._loss(self.model(x, training=True)[-1], labels)
        variables = [self.variables[name] for name in self.trained]
        self.optimizer.apply(tape.gradient(loss, [variable.value for variable in variables]), variables)
        return loss

    def step(self, x, labels):
        return float(self.compiled_step(self._inputs(x), self.tf.constant(labels)))

    def judged_step(self, x, labels):
        names = self.architecture.names
        with self.tf.GradientTape() as tape:
            outputs = self.model(self._inputs(x), training=True)
            loss = self._loss(outputs[-1], self.tf.constant(labels))
        variables = [self.variables[name] for name in self.trained]
        of_outputs, of_weights = tape.gradient(loss, (list(outputs), [variable.value for variable in variables]))
        gradients = {name: self._value(name, self.tf.convert_to_tensor(value)) for name, value in zip(names, of_outputs)}
        for name, variable in self.variables.items():
            value = of_weights[self.trained.index(name)] if name in self.trained else self.tf.zeros(variable.shape)
            # An embedding's gradient stays a list of rows, which are subtracted one after another: there is no sum of it
            # to be judged, only the new weights.
            if not isinstance(value, self.tf.IndexedSlices):
                gradients[name] = self._from_keras(name, value)
        self.optimizer.apply(of_weights, variables)
        return float(loss), {name: self._value(name, value) for name, value in zip(names, outputs)}, gradients

    def weights(self):
        return {name: self._from_keras(name, variable.numpy()) for name, variable in self.variables.items()}

    def values(self, x):
        outputs = self.compiled_model(self._inputs(x))
        return {name: self._value(name, value) for name, value in zip(self.architecture.names, outputs)}

    def evaluate(self, x, labels):
        logits = self.compiled_model(self._inputs(x))[-1]
        loss = self.keras.losses.SparseCategoricalCrossentropy(from_logits=True)(labels, logits)
        return float(loss), int((np.asarray(logits).argmax(1) == labels).sum())

    def facts(self):
        return {"version": self.keras.__version__, "backend": f"tensorflow {self.tf.__version__}", "device": "cpu",
                "threads": self.tf.config.threading.get_intra_op_parallelism_threads()}


def architecture_kind(architecture, layer):
    return next(kind for name, kind, _ in architecture.layers if name == layer)
