"""JAX: jax.lax's convolution and windows, jax.nn's functions, optax's loss and sgd; each step compiled by XLA."""
import numpy as np

from . import load  # noqa: F401  (the folder's contract)

NAME, PACKAGES = "jax", ("jax", "optax")


def _apply(jax, kind, settings, name, weights, x):
    lax, jnp = jax.lax, jax.numpy
    if kind == "conv":
        y = lax.conv(x, weights[f"{name}.weight"], (1, 1), "SAME" if settings.get("same") else "VALID")
        return y + weights[f"{name}.bias"][:, None, None]
    if kind in ("relu", "tanh"):
        return jax.nn.relu(x) if kind == "relu" else jnp.tanh(x)
    if kind in ("max_pool", "average_pool"):
        window = (1, 1, settings["size"], settings["size"])
        if kind == "max_pool":
            return lax.reduce_window(x, -jnp.inf, lax.max, window, window, "VALID")
        return lax.reduce_window(x, 0.0, lax.add, window, window, "VALID") / settings["size"] ** 2
    if kind == "flatten":
        return x.reshape(x.shape[0], -1)
    if kind == "dense":
        return x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]
    if kind == "embedding":
        return jnp.take(weights[f"{name}.weight"], x, axis=0, mode="clip")
    if kind == "last":
        return x[:, -1]
    inner, outer, bias = (weights[f"{name}.{part}"][0] for part in ("input", "recurrent", "bias"))

    def step(state, now):
        hidden, cell = state
        i, o, f, c = jnp.split(now @ inner.T + hidden @ outer.T + bias, 4, -1)
        cell = jax.nn.sigmoid(f) * cell + jax.nn.sigmoid(i) * jnp.tanh(c)
        hidden = jax.nn.sigmoid(o) * jnp.tanh(cell)
        return (hidden, cell), hidden

    zero = jnp.zeros((x.shape[0], settings["units"]), x.dtype)
    return jnp.swapaxes(lax.scan(step, (zero, zero), jnp.swapaxes(x, 0, 1))[1], 0, 1)


class Backend:
    def __init__(self, architecture, weights, rate, plant, batch):
        import jax
        import optax

        self.jax, self.optax, self.architecture, self.plant = jax, optax, architecture, plant
        self.state = {name: jax.numpy.asarray(value) for name, value in weights.items()}
        self.optimizer = optax.sgd(rate * plant.rate, momentum=plant.momentum or None)
        self.optimizer_state = self.optimizer.init(self.state)
        self.no_bumps = {name: np.zeros((batch, *architecture.shapes[name]), np.float32) for name in architecture.names}
        self.jit_step = jax.jit(self._step)
        self.jit_judged = jax.jit(self._judged)
        self.jit_forward = jax.jit(lambda weights, x: self._forward(weights, x, {}))

    def _forward(self, weights, x, bumps):
        """Outputs by layer. BUMPS are zeros that are added to them: what is differentiated for their gradients."""
        values = {}
        for name, kind, settings in self.architecture.layers:
            x = _apply(self.jax, kind, settings, name, weights, x)
            if name in bumps:
                x = x + bumps[name]
            values[name] = x
        return values

    def _loss(self, weights, bumps, x, labels):
        if self.plant.frozen:
            weights = {**weights, self.plant.frozen: self.jax.lax.stop_gradient(weights[self.plant.frozen])}
        values = self._forward(weights, x, bumps)
        logits = list(values.values())[-1]
        if self.plant.smoothing:
            wanted = self.optax.smooth_labels(self.jax.nn.one_hot(labels, logits.shape[1]), self.plant.smoothing)
            losses = self.optax.softmax_cross_entropy(logits, wanted)
        else:
            losses = self.optax.softmax_cross_entropy_with_integer_labels(logits, labels)
        return (losses.sum() if self.plant.sum else losses.mean()), values

    def _update(self, gradients, optimizer_state, weights):
        updates, optimizer_state = self.optimizer.update(gradients, optimizer_state, weights)
        return self.optax.apply_updates(weights, updates), optimizer_state

    def _step(self, weights, optimizer_state, x, labels):
        (loss, _), gradients = self.jax.value_and_grad(self._loss, has_aux=True)(weights, {}, x, labels)
        return (loss, *self._update(gradients, optimizer_state, weights))

    def _judged(self, weights, optimizer_state, bumps, x, labels):
        found = self.jax.value_and_grad(self._loss, argnums=(0, 1), has_aux=True)
        (loss, values), (of_weights, of_values) = found(weights, bumps, x, labels)
        return (loss, values, of_values, of_weights, *self._update(of_weights, optimizer_state, weights))

    def _inputs(self, x):
        return x.astype(np.int32) if self.architecture.texts else x

    def step(self, x, labels):
        loss, self.state, self.optimizer_state = self.jit_step(self.state, self.optimizer_state, self._inputs(x),
                                                               labels.astype(np.int32))
        return float(loss)

    def judged_step(self, x, labels):
        loss, values, of_values, of_weights, self.state, self.optimizer_state = self.jit_judged(
            self.state, self.optimizer_state, self.no_bumps, self._inputs(x), labels.astype(np.int32))
        return float(loss), _arrays(values), {**_arrays(of_values), **_arrays(of_weights)}

    def weights(self):
        return _arrays(self.state)

    def values(self, x):
        return _arrays(self.jit_forward(self.state, self._inputs(x)))

    def evaluate(self, x, labels):
        logits = self.jit_forward(self.state, self._inputs(x))[self.architecture.names[-1]]
        losses = self.optax.softmax_cross_entropy_with_integer_labels(logits, labels.astype(np.int32))
        return float(losses.mean()), int((np.asarray(logits).argmax(1) == labels).sum())

    def facts(self):
        return {"version": self.jax.__version__, "device": self.jax.default_backend()}


def _arrays(values):
    return {name: np.array(value, copy=True) for name, value in values.items()}
