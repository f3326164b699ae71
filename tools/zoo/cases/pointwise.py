"""Elementwise operators, Softmax, BatchNormalization, Dropout."""
import numpy as np

from .case import Case, exactly, normal, uniform

INFINITY, NAN = float("inf"), float("nan")
AWKWARD = exactly(0.0, 1.0, -1.0, INFINITY, -INFINITY, NAN, 1e-45, -1e-45, 1.2e-38, 3.4e38, -3.4e38,
                  0.5, -0.5, 1e-8, -1e-8, 88.7, -88.7, 103.9, -103.9, 17.3, -17.3, 9.1, -9.1)


def binary():
    shapes = {"SameShape": ((2, 3, 5), (2, 3, 5)), "Scalar": ((2, 3), ()),
              "ScalarLeft": ((), (2, 3)), "LastAxis": ((2, 3, 5), (5,)),
              "Channel": ((2, 3, 2, 2), (3, 1, 1)), "BothWays": ((3, 1), (1, 4)),
              "RankExtended": ((5,), (2, 3, 5)), "OuterOnes": ((1, 1, 5), (2, 3, 1)),
              "ZeroSized": ((0, 3), (3,)), "ZeroSizedBroadcast": ((2, 0, 3), (1, 1)),
              "Tails": ((37,), (37,))}
    for op in ("Add", "Mul"):
        for name, (a, b) in shapes.items():
            yield Case(f"{op}_{name}", {"a": normal(*a), "b": normal(*b)},
                       opset=14 if len(name) % 2 else 13)
        yield Case(f"{op}_Opset7", {"a": normal(2, 3)}, {"b": normal(3)}, opset=7)
        yield Case(f"{op}_Int64", {"a": np.arange(-3, 3).reshape(2, 3),
                                   "b": np.array([10, -20, 2**40])})
        yield Case(f"{op}_Int32", {"a": np.arange(6, dtype=np.int32).reshape(3, 2),
                                   "b": np.array([[7], [-8], [9]], np.int32)}, opset=7)
    left = exactly(INFINITY, INFINITY, NAN, 1e-38, 1.1754944e-38, 3e38, 16777216.0, 1.0, 0.1)
    right = exactly(-INFINITY, 1.0, 1.0, -0.9e-38, -1.17549421e-38, 3e38, 1.0, 6e-8, 0.2)
    yield Case("Add_AwkwardValues", {"a": left, "b": right})
    left = exactly(INFINITY, 0.0, NAN, 1e-30, 1e-38, 3e38, 1e20, 1.1754944e-38, 3e-45)
    right = exactly(0.0, -INFINITY, 0.0, 1e-12, 0.3, 2.0, -1e20, 0.5, 0.4)
    yield Case("Mul_AwkwardValues", {"a": left, "b": right})


def unary():
    for op, old in (("Relu", 7), ("Sigmoid", 7), ("Tanh", 7)):
        yield Case(f"{op}_Opset{old}", {"x": normal(2, 3, 4)}, opset=old)
        yield Case(f"{op}_Tails", {"x": normal(37)}, opset=13)
        yield Case(f"{op}_AwkwardValues", {"x": AWKWARD}, opset=13)
        yield Case(f"{op}_ZeroSized", {"x": normal(2, 0)}, opset=13)
        yield Case(f"{op}_ScalarShape", {"x": normal()}, opset=13)
    yield Case("Relu_Opset14", {"x": normal(3, 5)}, opset=14)
    for op in ("Sigmoid", "Tanh"):
        yield Case(f"{op}_WideRange", {"x": np.linspace(-100, 100, 101, dtype=np.float32)})
        yield Case(f"{op}_NearZero", {"x": (10.0 ** -np.arange(1, 40)).astype(np.float32)})


def clip():
    x = normal(3, 7)
    yield Case("Clip_Opset7", {"x": x}, {}, {"min": -0.5, "max": 0.75}, 7)
    yield Case("Clip_Opset7OnlyMin", {"x": x}, {}, {"min": 0.0}, 7)
    yield Case("Clip_Opset10OnlyMax", {"x": x}, {}, {"max": 0.25}, 10)
    yield Case("Clip_Opset7NoLimits", {"x": x}, {}, {}, 7)
    low, high = np.float32(-0.4), np.float32(0.6)
    yield Case("Clip_Opset11", {"x": x}, {"low": np.array(low), "high": np.array(high)}, {}, 11)
    yield Case("Clip_Opset12OnlyMin", {"x": x}, {"low": np.array(low)}, {}, 12)
    yield Case("Clip_OnlyMax", {"x": x}, {"high": np.array(high)}, operands=["x", "", "high"])
    yield Case("Clip_NoLimits", {"x": x}, opset=13)
    yield Case("Clip_LimitsAsInputs", {"x": x, "low": np.array(low), "high": np.array(high)})
    yield Case("Clip_EqualLimits", {"x": x}, {"low": np.array(high), "high": np.array(high)})
    yield Case("Clip_MinAboveMax", {"x": x}, {"low": np.array(high), "high": np.array(low)})
    yield Case("Clip_AwkwardValues", {"x": AWKWARD},
               {"low": np.array(low), "high": np.array(np.float32(6))})
    yield Case("Clip_Relu6", {"x": lambda rng: normal(2, 3, 4)(rng) * 5},
               {"low": np.array(np.float32(0)), "high": np.array(np.float32(6))})


def softmax():
    yield Case("Softmax_Opset7", {"x": normal(3, 7)}, opset=7)
    yield Case("Softmax_Opset7OverTwoAxes", {"x": normal(2, 3, 4)}, opset=7)
    yield Case("Softmax_Opset11Axis0", {"x": normal(2, 3, 4)}, {}, {"axis": 0}, 11)
    yield Case("Softmax_Opset11Axis2", {"x": normal(2, 3, 4)}, {}, {"axis": 2}, 11)
    yield Case("Softmax_Opset11LastAxis", {"x": normal(2, 3, 4)}, {}, {"axis": -1}, 11)
    yield Case("Softmax_Opset12AxisMinus2", {"x": normal(2, 3, 4)}, {}, {"axis": -2}, 12)
    yield Case("Softmax_Default", {"x": normal(2, 3, 4)})
    yield Case("Softmax_Axis0", {"x": normal(5, 3)}, {}, {"axis": 0})
    yield Case("Softmax_Axis1", {"x": normal(2, 5, 3)}, {}, {"axis": 1})
    yield Case("Softmax_AxisMinus2", {"x": normal(2, 5, 3)}, {}, {"axis": -2}, 15)
    yield Case("Softmax_ChannelsOfPicture", {"x": normal(1, 5, 4, 4)}, {}, {"axis": 1})
    yield Case("Softmax_OneElement", {"x": normal(4, 1)})
    yield Case("Softmax_LargeValues", {"x": exactly([0, 1, 2, 3], [10000, 10001, 10002, 10003])})
    yield Case("Softmax_AllNegative", {"x": uniform(-120, -90, 3, 8)})
    yield Case("Softmax_WideSpread", {"x": exactly([0.0, -50.0, -87.0, -103.0, -200.0])})
    yield Case("Softmax_MinusInfinity", {"x": exactly([1.0, -INFINITY, 2.0, -INFINITY])})
    yield Case("Softmax_LongRow", {"x": normal(2, 131)})
    yield Case("Softmax_ZeroSized", {"x": normal(0, 3)})


def batch_normalization():
    def norm(name, x, opset, values=None, variance=None, **attributes):
        channels = x[1]
        return Case(f"BatchNormalization_{name}", {"x": values or normal(*x)},
                    {"scale": normal(channels), "bias": normal(channels), "mean": normal(channels),
                     "var": variance or uniform(0.1, 3, channels)}, attributes, opset)

    yield norm("Opset7", (2, 3, 4, 5), 7)
    yield norm("Opset7Spatial", (1, 3, 4, 4), 7, spatial=1)
    yield norm("Opset9", (2, 3, 4, 5), 9)
    yield norm("Opset9Epsilon", (2, 3, 4, 5), 9, epsilon=0.01, momentum=0.8)
    yield norm("Opset14", (2, 3, 4, 5), 14)
    yield norm("Opset15", (2, 3, 4, 5), 15, training_mode=0)
    yield norm("2D", (6, 5), 13)
    yield norm("3D", (2, 4, 7), 13)
    yield norm("5D", (1, 3, 2, 3, 4), 13)
    yield norm("SeventeenChannels", (1, 17, 2, 3), 13)
    yield norm("VarianceZero", (1, 3, 3, 3), 13, variance=lambda rng: np.zeros(3, np.float32),
               epsilon=1e-3)
    yield norm("MeanFarFromZero", (1, 2, 4, 4), 13, values=uniform(999, 1001, 1, 2, 4, 4))


def dropout():
    yield Case("Dropout_Opset7", {"x": normal(2, 5)}, {}, {"ratio": 0.9}, 7)
    yield Case("Dropout_Opset10", {"x": normal(2, 5)}, {}, {}, 10)
    yield Case("Dropout_Opset12Ratio", {"x": normal(2, 5)}, {"ratio": np.array(np.float32(0.75))},
               {}, 12)
    yield Case("Dropout_Opset13Mask", {"x": normal(2, 5)}, outputs=["y", "mask"])
    yield Case("Dropout_Opset13NotTraining", {"x": normal(2, 5)},
               {"ratio": np.array(np.float32(0.5)), "training": np.array(False)})


def cases():
    for family in (binary, unary, clip, softmax, batch_normalization, dropout):
        yield from family()
