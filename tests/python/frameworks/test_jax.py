"""JAX functions, converted by jax2onnx."""
import contextlib
import io

import cases
import jax
import jax_models
from jax2onnx import to_onnx

from driftscope import BadInput


def export(function, inputs, path):
    shapes = [jax.ShapeDtypeStruct(value.shape, value.dtype) for value in inputs.values()]
    with contextlib.redirect_stdout(io.StringIO()):
        to_onnx(lambda *arrays: function(**dict(zip(inputs, arrays))), inputs=shapes, opset=21, return_mode="file",
                output_path=str(path))
    return path


class JaxTest(cases.FrameworkTest):
    known = {"Div": (2.5, "XLA divides by a scalar by multiplying with its reciprocal: two roundings in place of one")}

    def test_models(self):
        for name in cases.MODELS:
            with self.subTest(name):
                weights, function, inputs = jax_models.make(name)
                onnx = export(function, inputs, self.folder / f"{name}.onnx")
                trace = self.record(function, inputs, onnx, framework="jax")
                self.check_clean(name, trace)
                planted = jax_models.plant(weights, name)
                for mapping in (trace.mapping, None):
                    self.check_fault(self.record(function, inputs, onnx, framework="jax", mapping=mapping), planted)

    def test_named_values_keep_their_names(self):
        _, function, inputs = jax_models.make("lenet5")
        onnx = export(function, inputs, self.folder / "m.onnx")
        trace = self.record(jax.jit(function), inputs, onnx)
        layers = {link.layer for link in trace.mapping.links} | set(trace.mapping.unmapped)
        self.assertIn("conv1", layers)
        self.assertTrue(any(layer.endswith("fc1/dot_general") for layer in layers), layers)

    def test_plain_function_needs_the_frameworks_name(self):
        _, function, inputs = jax_models.make("lstm")
        with self.assertRaisesRegex(BadInput, "no recorder takes a builtins.function; name one: framework="):
            self.record(function, inputs, export(function, inputs, self.folder / "m.onnx"))


if __name__ == "__main__":
    cases.main()
