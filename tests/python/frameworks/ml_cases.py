"""Nodes of the domain ai.onnx.ml with random trees, coefficients, shapes and types, by the name of the function that makes
them. Client: test_ml_operators.py.
"""
from contrib_case import Case, chance, integers

import numpy as np

ML = "ai.onnx.ml"
CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


def rows_of(rng, features, dtype=np.float32):
    rows = (rng.standard_normal((int(rng.integers(1, 40)), features)) * 2).astype(dtype)
    if chance(rng, 0.3) and np.dtype(dtype).kind == "f":
        rows[rng.random(rows.shape) < 0.1] = np.nan
    return rows


def reals(rng, count, scale=1.0):
    return [float(x) for x in (rng.standard_normal(count) * scale).astype(np.float32)]


MODES = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"]


def grow(rng, tree, features, values, nodes, leaves, depth):
    """Appends a tree; `leaves` gets (tree, node) of each leaf."""
    todo, ids = [(0, depth)], 1
    own = {}
    while todo:
        node, left = todo.pop(int(rng.integers(len(todo))))
        if left == 0 or chance(rng, 0.2):
            own[node] = ("LEAF", 0, 0.0, 0, 0, 0)
            leaves.append((tree, node))
            continue
        yes, no = ids, ids + 1
        ids += 2
        mode = MODES[int(rng.integers(len(MODES)))] if chance(rng, 0.2) else "BRANCH_LEQ"
        own[node] = (mode, int(rng.integers(features)), float(rng.choice(values)), yes, no, int(chance(rng)))
        todo += [(yes, left - 1), (no, left - 1)]
    order = sorted(own)
    nodes += [(tree, node, *own[node]) for node in order]


def ensemble(rng, x):
    values = x[np.isfinite(x)].astype(np.float32)
    values = np.concatenate([values, rng.standard_normal(8).astype(np.float32)])
    nodes, leaves = [], []
    for tree in range(int(rng.integers(1, 30))):
        grow(rng, tree, x.shape[1], values, nodes, leaves, int(rng.integers(0, 6)))
    names = ("nodes_treeids", "nodes_nodeids", "nodes_modes", "nodes_featureids", "nodes_values", "nodes_truenodeids",
             "nodes_falsenodeids", "nodes_missing_value_tracks_true")
    return dict(zip(names, map(list, zip(*nodes)))), leaves


def weights(prefix, leaves, ids, values):
    return {f"{prefix}_treeids": [t for t, _ in leaves], f"{prefix}_nodeids": [n for _, n in leaves],
            f"{prefix}_ids": ids, f"{prefix}_weights": values}


@case
def tree_regressor(rng):
    x = rows_of(rng, int(rng.integers(1, 9)), np.float64 if chance(rng, 0.2) else np.float32)
    trees, leaves = ensemble(rng, x)
    targets = int(rng.integers(1, 4))
    if targets > 1:
        leaves = [leaf for leaf in leaves for _ in range(targets)]
        ids = [i % targets for i in range(len(leaves))]
    else:
        ids = [0] * len(leaves)
    attributes = {**trees, **weights("target", leaves, ids, reals(rng, len(leaves))), "n_targets": targets,
                  "aggregate_function": str(rng.choice(["SUM", "AVERAGE", "MIN", "MAX"]))}
    if chance(rng):
        attributes["base_values"] = reals(rng, targets)
    return Case("TreeEnsembleRegressor", [x], attributes, 1, ML)


@case
def tree_classifier(rng):
    x = rows_of(rng, int(rng.integers(1, 9)))
    if chance(rng, 0.2):
        x = integers(rng, -3, 4, *x.shape, dtype=np.int64)
    trees, leaves = ensemble(rng, x)
    classes = int(rng.integers(3, 7))
    leaves = [leaf for leaf in leaves for _ in range(classes)]
    ids = [i % classes for i in range(len(leaves))]
    attributes = {**trees, **weights("class", leaves, ids, reals(rng, len(leaves))),
                  "classlabels_int64s": [int(i) for i in rng.permutation(20)[:classes]],
                  "post_transform": str(rng.choice(["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO"]))}
    if chance(rng):
        attributes["base_values"] = reals(rng, classes)
    return Case("TreeEnsembleClassifier", [x], attributes, 2, ML)


@case
def binary_classifier(rng):
    x = rows_of(rng, int(rng.integers(1, 9)))
    trees, leaves = ensemble(rng, x)
    values = reals(rng, len(leaves), 0.3)
    if chance(rng):
        values = [abs(v) for v in values]
    attributes = {**trees, **weights("class", leaves, [0] * len(leaves), values), "classlabels_int64s": [3, 8],
                  "post_transform": str(rng.choice(["NONE", "LOGISTIC"]))}
    if chance(rng, 0.4):
        attributes["base_values"] = reals(rng, 1)
    return Case("TreeEnsembleClassifier", [x], attributes, 2, ML)


@case
def tree_ensemble(rng):
    import onnx
    dtype = np.float64 if chance(rng, 0.4) else np.float32
    x = rows_of(rng, int(rng.integers(1, 9)), dtype)
    splits, modes, features, yes, no, yes_leaf, no_leaf, missing, roots = ([] for _ in range(9))
    weights_, targets_, members = [], [], []
    targets = int(rng.integers(1, 4))
    values = np.concatenate([x[np.isfinite(x)], rng.standard_normal(8).astype(dtype)])

    def leaf():
        weights_.append(rng.standard_normal())
        targets_.append(int(rng.integers(targets)))
        return len(weights_) - 1

    def node(depth):
        at = len(splits)
        splits.append(rng.choice(values))
        modes.append(0 if chance(rng, 0.7) else int(rng.integers(6)))
        features.append(int(rng.integers(x.shape[1])))
        missing.append(int(chance(rng)))
        for one in (yes, no, yes_leaf, no_leaf):
            one.append(0)
        for ids, ends in ((yes, yes_leaf), (no, no_leaf)):
            end = depth == 0 or chance(rng, 0.3)
            child = leaf() if end else node(depth - 1)
            ids[at], ends[at] = child, int(end)
        return at

    for _ in range(int(rng.integers(1, 20))):
        roots.append(node(int(rng.integers(0, 5))))
    tensor = lambda array, kind: onnx.numpy_helper.from_array(np.array(array, kind))
    return Case("TreeEnsemble", [x], {
        "nodes_splits": tensor(splits, dtype), "nodes_modes": tensor(modes, np.uint8), "nodes_featureids": features,
        "nodes_truenodeids": yes, "nodes_falsenodeids": no, "nodes_trueleafs": yes_leaf, "nodes_falseleafs": no_leaf,
        "nodes_missing_value_tracks_true": missing, "tree_roots": roots, "leaf_targetids": targets_,
        "leaf_weights": tensor(weights_, dtype), "n_targets": targets,
        "aggregate_function": int(rng.choice([0, 1, 2, 3]) if targets == 1 else 1)}, 1, ML)


def plain_rows(rng, features):
    return (rng.standard_normal((int(rng.integers(1, 20)), features))).astype(np.float32)


@case
def linear_regressor(rng):
    features, targets = int(rng.integers(1, 70)), int(rng.integers(1, 5))
    attributes = {"coefficients": reals(rng, features * targets), "targets": targets}
    if chance(rng, 0.7):
        attributes["intercepts"] = reals(rng, targets)
    return Case("LinearRegressor", [plain_rows(rng, features)], attributes, 1, ML)


@case
def linear_classifier(rng):
    features, classes = int(rng.integers(1, 70)), int(rng.integers(2, 6))
    x = plain_rows(rng, features)
    if chance(rng, 0.2):
        x = integers(rng, -5, 6, *x.shape, dtype=np.int64)
    return Case("LinearClassifier", [x], {
        "coefficients": reals(rng, features * classes), "intercepts": reals(rng, classes),
        "classlabels_ints": [int(i) for i in rng.permutation(20)[:classes]],
        "post_transform": str(rng.choice(["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO"]))}, 2, ML)


def kernel(rng, features):
    kind = str(rng.choice(["LINEAR", "POLY", "RBF", "SIGMOID"]))
    return {"kernel_type": kind, "kernel_params": [float(np.float32(0.5 / features)), float(np.float32(rng.uniform(0, 1))),
                                                   float(rng.integers(2, 5))]}


@case
def svm_regressor(rng):
    features, count = int(rng.integers(1, 20)), int(rng.integers(1, 30))
    return Case("SVMRegressor", [plain_rows(rng, features)], {
        **kernel(rng, features), "n_supports": count, "support_vectors": reals(rng, features * count),
        "coefficients": reals(rng, count), "rho": reals(rng, 1), "one_class": int(chance(rng, 0.3))}, 1, ML)


@case
def svm_classifier(rng):
    features, classes = int(rng.integers(1, 20)), int(rng.integers(2, 5))
    sizes = [int(n) for n in rng.integers(1, 8, classes)]
    count, pairs = sum(sizes), classes * (classes - 1) // 2
    attributes = {**kernel(rng, features), "vectors_per_class": sizes, "support_vectors": reals(rng, features * count),
                  "coefficients": reals(rng, count * (classes - 1)), "rho": reals(rng, pairs),
                  "classlabels_ints": [int(i) for i in rng.permutation(20)[:classes]]}
    if chance(rng):
        attributes |= {"prob_a": [-abs(v) for v in reals(rng, pairs)], "prob_b": reals(rng, pairs, 0.1)}
    return Case("SVMClassifier", [plain_rows(rng, features)], attributes, 2, ML)


@case
def scaler(rng):
    features = int(rng.integers(1, 30))
    x = plain_rows(rng, features) if chance(rng, 0.7) else integers(rng, -9, 9, 5, features, dtype=np.int64)
    count = features if chance(rng) else 1
    return Case("Scaler", [x], {"offset": reals(rng, count), "scale": reals(rng, count)}, 1, ML)


@case
def normalizer(rng):
    x = plain_rows(rng, int(rng.integers(1, 30)))
    norm = str(rng.choice(["MAX", "L1", "L2"]))
    if norm == "MAX":
        x = np.abs(x)
    if chance(rng, 0.2):
        x[0] = 0
    return Case("Normalizer", [x], {"norm": norm}, 1, ML)


@case
def binarizer(rng):
    return Case("Binarizer", [plain_rows(rng, 9)], {"threshold": float(np.float32(rng.uniform(-1, 0.5)))}, 1, ML)


@case
def imputer(rng):
    features = int(rng.integers(1, 9))
    count = features if chance(rng) else 1
    if chance(rng, 0.3):
        return Case("Imputer", [integers(rng, -2, 3, 6, features, dtype=np.int64)], {
            "imputed_value_int64s": [int(i) for i in rng.integers(-9, 9, count)], "replaced_value_int64": 1}, 1, ML)
    x = plain_rows(rng, features)
    x[rng.random(x.shape) < 0.3] = np.nan
    return Case("Imputer", [x], {"imputed_value_floats": reals(rng, count), "replaced_value_float": float("nan")}, 1, ML)


@case
def label_encoder(rng):
    count = int(rng.integers(1, 12))
    keys = [int(i) for i in rng.permutation(30)[:count]]
    attributes = {}
    if chance(rng):
        attributes["keys_int64s"], x = keys, integers(rng, 0, 30, 4, 6, dtype=np.int64)
    else:
        attributes["keys_floats"] = [float(k) / 4 for k in keys]
        x = (integers(rng, 0, 30, 4, 6) / 4).astype(np.float32)
    if chance(rng):
        attributes |= {"values_int64s": [int(i) for i in rng.integers(-99, 99, count)], "default_int64": 7}
    else:
        attributes |= {"values_floats": reals(rng, count), "default_float": 0.25}
    if ("keys_int64s" in attributes) == ("values_int64s" in attributes) and "keys_int64s" not in attributes:
        attributes["keys_floats"] = attributes["keys_floats"]
    return Case("LabelEncoder", [x], attributes, 1, ML)


@case
def one_hot_encoder(rng):
    cats = [int(i) for i in rng.permutation(20)[:int(rng.integers(1, 9))]]
    return Case("OneHotEncoder", [integers(rng, 0, 20, 4, 3, dtype=np.int64)], {"cats_int64s": cats, "zeros": 1}, 1, ML)


@case
def array_feature_extractor(rng):
    x = plain_rows(rng, 12) if chance(rng) else integers(rng, -9, 9, 3, 12, dtype=np.int64)
    return Case("ArrayFeatureExtractor", [x, integers(rng, 0, 12, int(rng.integers(1, 9)), dtype=np.int64)], {}, 1, ML)


@case
def feature_vectorizer(rng):
    widths = [int(n) for n in rng.integers(1, 6, int(rng.integers(1, 4)))]
    rows = int(rng.integers(1, 6))
    return Case("FeatureVectorizer", [rng.standard_normal((rows, n)).astype(np.float32) for n in widths],
                {"inputdimensions": widths}, 1, ML)
