"""Gemm and MatMul."""
from .case import Case, normal


def gemm(name, a, b, c=None, opset=13, **attributes):
    initializers = {"b": normal(*b)}
    if c is not None:
        initializers["c"] = normal(*c)
    return Case(f"Gemm_{name}", {"a": normal(*a)}, initializers, attributes, opset)


def matmul(name, a, b, opset=13):
    return Case(f"MatMul_{name}", {"a": normal(*a), "b": normal(*b)}, opset=opset)


def cases():
    yield gemm("Opset7", (3, 5), (5, 4), (4,), 7)
    yield gemm("Opset9BiasMatrix", (3, 5), (5, 4), (3, 4), 9)
    yield gemm("NoBias", (3, 5), (5, 4), None, 11)
    yield gemm("BiasScalar", (3, 5), (5, 4), ())
    yield gemm("BiasOne", (3, 5), (5, 4), (1,))
    yield gemm("BiasRow", (3, 5), (5, 4), (1, 4))
    yield gemm("BiasColumn", (3, 5), (5, 4), (3, 1))
    yield gemm("TransA", (5, 3), (5, 4), (4,), transA=1)
    yield gemm("TransB", (3, 5), (4, 5), (4,), transB=1)
    yield gemm("TransAB", (5, 3), (4, 5), (4,), transA=1, transB=1)
    yield gemm("Alpha", (3, 5), (5, 4), (4,), alpha=0.3)
    yield gemm("Beta", (3, 5), (5, 4), (4,), beta=-1.7)
    yield gemm("BetaZero", (3, 5), (5, 4), (4,), beta=0.0)
    yield gemm("AllAttributes", (5, 3), (4, 5), (3, 1), 11, alpha=0.25, beta=0.35, transA=1,
               transB=1)
    yield gemm("OneRow", (1, 33), (33, 17), (17,))
    yield gemm("OneColumn", (9, 7), (7, 1), (1,))
    yield gemm("OneTerm", (4, 1), (1, 6), (6,))
    yield gemm("Tails", (5, 19), (19, 23), (23,))
    yield gemm("LongSums", (1, 300), (2, 300), (2,), transB=1)
    yield gemm("NoRows", (0, 5), (5, 4), (4,))
    yield gemm("NoTerms", (3, 0), (0, 4), (4,))

    yield matmul("2D", (3, 5), (5, 4))
    yield matmul("2DOpset7", (3, 5), (5, 4), 7)
    yield matmul("2DTails", (7, 19), (19, 21), 9)
    yield matmul("3D", (2, 3, 5), (2, 5, 4))
    yield matmul("4D", (2, 3, 2, 4), (2, 3, 4, 3))
    yield matmul("BroadcastBatch", (3, 1, 2, 4), (2, 4, 3))
    yield matmul("BroadcastBothWays", (2, 1, 2, 3), (1, 3, 3, 2))
    yield matmul("MatrixAgainstBatch", (3, 4), (2, 4, 5))
    yield matmul("BatchAgainstMatrix", (2, 3, 4), (4, 5))
    yield matmul("VectorVector", (7,), (7,))
    yield matmul("MatrixVector", (3, 7), (7,))
    yield matmul("VectorMatrix", (7,), (7, 3))
    yield matmul("BatchVector", (2, 3, 4), (4,))
    yield matmul("VectorBatch", (4,), (2, 4, 3))
    yield matmul("NoTerms", (2, 0), (0, 3))
    yield matmul("NoBatch", (0, 2, 3), (3, 2))
