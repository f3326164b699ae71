"""PyTorch: torch.nn's layers, cross_entropy and optim.SGD."""
import torch
from torch import nn
from torch.nn import functional

from . import FROM_ONNX, TO_ONNX, reorder_gates

NAME, PACKAGES = "pytorch", ("torch",)


class LastStep(nn.Module):
    def forward(self, x):
        return x[:, -1]


class Steps(nn.Module):
    """nn.LSTM, of which only every step's output is needed. Its second bias is zero and stays so: one network, one bias."""

    def __init__(self, width, units):
        super().__init__()
        self.lstm = nn.LSTM(width, units, batch_first=True)
        self.lstm.bias_hh_l0.requires_grad_(False).zero_()

    def forward(self, x):
        return self.lstm(x)[0]


def _module(kind, settings, before):
    if kind == "conv":
        return nn.Conv2d(before[0], settings["channels"], settings["kernel"],
                         padding=settings["kernel"] // 2 if settings.get("same") else 0)
    if kind in ("relu", "tanh"):
        return nn.ReLU() if kind == "relu" else nn.Tanh()
    if kind == "max_pool":
        return nn.MaxPool2d(settings["size"])
    if kind == "average_pool":
        return nn.AvgPool2d(settings["size"])
    if kind == "flatten":
        return nn.Flatten()
    if kind == "dense":
        return nn.Linear(before[0], settings["units"])
    if kind == "embedding":
        return nn.Embedding(settings["words"], settings["width"])
    return Steps(before[1], settings["units"]) if kind == "lstm" else LastStep()


class Backend:
    def __init__(self, architecture, weights, rate, plant, batch):
        torch.set_num_threads(1)
        self.architecture, self.plant = architecture, plant
        self.modules, before = {}, architecture.input
        for name, kind, settings in architecture.layers:
            self.modules[name] = _module(kind, settings, before)
            before = architecture.shapes[name]
        self.parameters = {}
        for name in weights:
            layer, part = name.rsplit(".", 1)
            module = self.modules[layer]
            if isinstance(module, Steps):
                self.parameters[name] = {"input": module.lstm.weight_ih_l0, "recurrent": module.lstm.weight_hh_l0,
                                         "bias": module.lstm.bias_ih_l0}[part]
            else:
                self.parameters[name] = getattr(module, part)
        with torch.no_grad():
            for name, parameter in self.parameters.items():
                value = weights[name]
                if self._recurrent(name):
                    value = reorder_gates(value[0], FROM_ONNX)
                parameter.copy_(torch.from_numpy(value.copy()))
        if plant.frozen:
            self.parameters[plant.frozen].requires_grad_(False)
        self.optimizer = torch.optim.SGD([p for p in self.parameters.values() if p.requires_grad], rate * plant.rate,
                                         momentum=plant.momentum)

    def _recurrent(self, name):
        return isinstance(self.modules[name.rsplit(".", 1)[0]], Steps)

    def _forward(self, x):
        values, x = {}, torch.from_numpy(x)
        for name, module in self.modules.items():
            x = module(x)
            values[name] = x
        return values

    def _loss(self, logits, labels):
        return functional.cross_entropy(logits, torch.from_numpy(labels), reduction="sum" if self.plant.sum else "mean",
                                        label_smoothing=self.plant.smoothing)

    def step(self, x, labels):
        loss = self._loss(list(self._forward(x).values())[-1], labels)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def judged_step(self, x, labels):
        values = self._forward(x)
        for value in values.values():
            if value.requires_grad:
                value.retain_grad()
        loss = self._loss(list(values.values())[-1], labels)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        gradients = {name: value.grad.numpy().copy() for name, value in values.items() if value.grad is not None}
        for name, parameter in self.parameters.items():
            gradient = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
            gradients[name] = self._as_onnx(name, gradient.numpy().copy())
        self.optimizer.step()
        return loss.item(), {name: value.detach().numpy().copy() for name, value in values.items()}, gradients

    def _as_onnx(self, name, array):
        return reorder_gates(array, TO_ONNX)[None] if self._recurrent(name) else array

    def weights(self):
        return {name: self._as_onnx(name, p.detach().numpy().copy()) for name, p in self.parameters.items()}

    @torch.no_grad()
    def values(self, x):
        return {name: value.numpy().copy() for name, value in self._forward(x).items()}

    @torch.no_grad()
    def evaluate(self, x, labels):
        logits = list(self._forward(x).values())[-1]
        wanted = torch.from_numpy(labels)
        return functional.cross_entropy(logits, wanted).item(), int((logits.argmax(1) == wanted).sum())

    def facts(self):
        return {"version": torch.__version__, "device": "cpu", "threads": torch.get_num_threads()}
