"""The same training in several frameworks: curves, drift by epoch, and whether a step's difference is rounding.

    python -m driftscope.training --help        # docs/training.md has more

A network is trained in PyTorch, Keras on TensorFlow, and JAX from the same weights, on the same batches in the same order,
by the same optimiser. Each framework uses its own layers, loss and optimiser, in a process of its own.
"""
