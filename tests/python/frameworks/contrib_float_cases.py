"""Products with packed weights, normalizations, activations, attention, fused operators.

Each function takes a numpy Generator; which attributes ONNX Runtime's CPU kernels accept together is what it knows.
"""
import numpy as np
from contrib_case import Case, byte_type, bytes_of, case, chance, filled, float_type, floats, hidden_shape, integers, scale_of


# ---- products with packed weights ----

@case
def matmul_nbits(rng, accuracy_level=0):
    bits = int(rng.choice([2, 4, 4, 4, 8]))
    block = int(rng.choice([16, 32, 64, 128]))
    depth, columns = int(rng.integers(1, 200)), int(rng.integers(1, 40))
    dtype = float_type(rng) if bits != 2 else np.float32
    blocks, row = -(-depth // block), block * bits // 8
    shape = (int(rng.integers(1, 4)), depth) if chance(rng) else (int(rng.integers(1, 3)), int(rng.integers(1, 4)), depth)
    flat = chance(rng, 0.3)
    weights = bytes_of(rng, np.uint8, columns, blocks, row)
    scales = np.abs(floats(rng, columns * blocks, dtype=dtype, scale=0.1)) if flat else \
        np.abs(floats(rng, columns, blocks, dtype=dtype, scale=0.1))
    zeros, kind = None, rng.random()
    if kind < 0.4:
        zeros = bytes_of(rng, np.uint8, columns, -(-blocks * bits // 8))
        if flat:
            zeros = zeros.reshape(-1)
    elif kind < 0.5 and bits == 4:
        zeros = (rng.random((columns, blocks)) * 15).astype(dtype)
    groups = None
    # With both, the CPU kernel of ONNX Runtime 1.32 leaves packed zero points out.
    packed = zeros is not None and zeros.dtype == np.uint8
    if bits == 4 and chance(rng, 0.15) and accuracy_level == 0 and not packed:
        groups = integers(rng, 0, blocks, depth)
    bias = floats(rng, columns, dtype=dtype) if chance(rng, 0.3) else None
    attributes = {"K": depth, "N": columns, "bits": bits, "block_size": block}
    if accuracy_level:
        attributes["accuracy_level"] = accuracy_level
    return Case("MatMulNBits", filled([floats(rng, *shape, dtype=dtype), weights, scales, zeros, groups, bias]), attributes,
                constant=(1, 2, 3, 4, 5))


@case
def matmul_nbits_level_4(rng):
    return matmul_nbits(rng, accuracy_level=4)


@case
def matmul_bnb4(rng):
    block = int(rng.choice([16, 32, 64]))
    depth, columns = int(rng.integers(1, 100)), int(rng.integers(1, 30))
    weights = bytes_of(rng, np.uint8, (depth * columns + 1) // 2)
    absmax = np.abs(floats(rng, -(-depth * columns // block)))
    return Case("MatMulBnb4", [floats(rng, int(rng.integers(1, 4)), depth), weights, absmax],
                {"K": depth, "N": columns, "block_size": block, "quant_type": int(rng.integers(0, 2))}, constant=(1, 2))


@case
def gather_block_quantized(rng):
    block = int(rng.choice([16, 32]))
    bits = int(rng.choice([4, 8]))
    rows, columns = int(rng.integers(2, 20)), int(rng.integers(1, 5)) * 2 * int(rng.choice([8, 16, 24]))
    per_byte = 8 // bits
    data = bytes_of(rng, np.uint8, rows, columns // per_byte)
    blocks = -(-columns // block)
    scales = scale_of(rng, rows, blocks)
    zeros = bytes_of(rng, np.uint8, rows, -(-blocks // per_byte)) if chance(rng) else None
    indices = rng.integers(-rows, rows, size=(2, 3)).astype(np.int64 if chance(rng) else np.int32)
    return Case("GatherBlockQuantized", filled([data, indices, scales, zeros]),
                {"gather_axis": 0, "quantize_axis": 1, "block_size": block, "bits": bits}, constant=(0, 2, 3))


# ---- normalizations and activations ----

@case
def skip_layer_normalization(rng, simplified=False):
    batch, length, hidden = hidden_shape(rng)
    dtype = float_type(rng)
    x = floats(rng, batch, length, hidden, dtype=dtype)
    skip = floats(rng, *[(batch, length, hidden), (1, length, hidden), (length, hidden)][int(rng.integers(0, 3))], dtype=dtype)
    gamma = floats(rng, hidden, dtype=dtype, scale=1)
    beta = floats(rng, hidden, dtype=dtype, scale=1) if chance(rng) else None
    bias = floats(rng, hidden, dtype=dtype, scale=1) if chance(rng) else None
    inputs = [x, skip, gamma, bias] if simplified else [x, skip, gamma, beta, bias]
    attributes = {"epsilon": float(rng.choice([1e-12, 1e-6, 1e-5]))} if chance(rng, 0.8) else {}
    return Case("SkipSimplifiedLayerNormalization" if simplified else "SkipLayerNormalization", filled(inputs), attributes,
                outputs=4 if chance(rng) else 1, optional=(1, 2))


@case
def skip_simplified_layer_normalization(rng):
    return skip_layer_normalization(rng, simplified=True)


@case
def simplified_layer_normalization(rng):
    shape = hidden_shape(rng)
    axis = int(rng.choice([-1, -2, 2]))
    rest = shape[axis:] if axis < 0 else shape[2:]
    return Case("SimplifiedLayerNormalization", [floats(rng, *shape), floats(rng, *rest, scale=1)],
                {"axis": axis, "epsilon": 1e-6}, domain="", constant=(1,))


@case
def gelus(rng):
    op = str(rng.choice(["Gelu", "BiasGelu", "FastGelu", "QuickGelu"]))
    shape = hidden_shape(rng)
    dtype = float_type(rng) if op == "FastGelu" else np.float32
    x = floats(rng, *shape, dtype=dtype, scale=3)
    bias = floats(rng, shape[-1], dtype=dtype) if op == "BiasGelu" or (op == "FastGelu" and chance(rng)) else None
    attributes = {"alpha": float(rng.choice([1.702, 1.0, -0.5]))} if op == "QuickGelu" and chance(rng) else {}
    return Case(op, filled([x, bias]), attributes)


@case
def embed_layer_normalization(rng):
    batch, length, hidden = int(rng.integers(1, 3)), int(rng.integers(1, 7)), int(rng.integers(1, 40))
    words, places, kinds = 30, 12, 3
    segments = chance(rng)
    inputs = [integers(rng, 0, words, batch, length), integers(rng, 0, kinds, batch, length) if segments else None,
              floats(rng, words, hidden), floats(rng, places, hidden), floats(rng, kinds, hidden) if segments else None,
              floats(rng, hidden, scale=1), floats(rng, hidden, scale=1),
              integers(rng, 0, 2, batch, length) if chance(rng) else None,
              integers(rng, 0, places, batch, length) if chance(rng, 0.3) else None]
    return Case("EmbedLayerNormalization", filled(inputs), {"epsilon": 1e-5}, outputs=3 if chance(rng) else 2)


# ---- rotary embedding, attention ----

@case
def rotary_embedding(rng):
    batch, length, heads = int(rng.integers(1, 3)), int(rng.integers(1, 6)), int(rng.integers(1, 4))
    size = int(rng.choice([4, 8, 16, 32]))
    attributes = {"interleaved": int(chance(rng))}
    turned = size
    if chance(rng, 0.4):
        turned = size // 2
        attributes |= {"num_heads": heads, "rotary_embedding_dim": turned}
    rows = 20
    angles = rng.uniform(-3, 3, size=(rows, turned // 2))
    split = chance(rng)
    x = floats(rng, batch, heads, length, size) if split else floats(rng, batch, length, heads * size)
    positions = integers(rng, 0, rows - length, 1, dtype=np.int64) if chance(rng) else \
        integers(rng, 0, rows, batch, length, dtype=np.int64)
    return Case("RotaryEmbedding", [x, positions, np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)],
                attributes, constant=(2, 3))


@case
def group_query_attention(rng):
    batch, kv_heads = int(rng.integers(1, 3)), int(rng.integers(1, 4))
    heads, size = kv_heads * int(rng.integers(1, 4)), int(rng.choice([16, 32]))
    dtype = float_type(rng)
    attributes = {"num_heads": heads, "kv_num_heads": kv_heads}
    phase = str(rng.choice(["prompt", "token", "tokens"]))
    length = 1 if phase == "token" else int(rng.integers(2, 7))
    before = 0 if phase == "prompt" else int(rng.integers(1, 9))
    if phase == "tokens":
        batch = 1  # it takes several new positions after others of one sequence alone
    total = before + length
    lengths = np.full(batch, total - 1, dtype=np.int32)
    if phase == "token" and batch > 1:
        lengths[0] = int(rng.integers(0, before + 1))  # a shorter sequence: its cache is not full
        lengths[1] = total - 1
    packed = chance(rng, 0.3)
    if packed:
        inputs = [floats(rng, batch, length, (heads + 2 * kv_heads) * size, dtype=dtype), None, None]
    else:
        inputs = [floats(rng, batch, length, heads * size, dtype=dtype),
                  floats(rng, batch, length, kv_heads * size, dtype=dtype),
                  floats(rng, batch, length, kv_heads * size, dtype=dtype)]
    inputs += [floats(rng, batch, kv_heads, before, size, dtype=dtype) for _ in range(2)]
    inputs += [lengths, np.array([total], dtype=np.int32) if chance(rng) else np.array(total, dtype=np.int32)]
    caches = [None, None]
    positions = None
    if chance(rng):
        angles = rng.uniform(-3, 3, size=(total + 4, size // 2))
        caches = [np.cos(angles).astype(dtype), np.sin(angles).astype(dtype)]
        attributes |= {"do_rotary": 1, "rotary_interleaved": int(chance(rng))}
        if chance(rng, 0.3) and batch == 1:
            positions = np.arange(before, total, dtype=np.int64).reshape(1, length)
    bias = floats(rng, int(rng.choice([1, batch])), int(rng.choice([1, heads])), length, total, dtype=dtype) \
        if chance(rng, 0.25) else None
    sink = None
    if chance(rng, 0.4):
        attributes["local_window_size"] = int(rng.integers(1, 8))
    if chance(rng, 0.3):
        attributes["softcap"] = float(rng.uniform(5, 50))
    if chance(rng, 0.3):
        attributes["scale"] = float(rng.uniform(0.05, 0.5))
    if chance(rng, 0.15):
        attributes["smooth_softmax"] = 1
    elif chance(rng, 0.15):
        sink = floats(rng, heads, dtype=dtype, scale=1)
    return Case("GroupQueryAttention", filled([*inputs, *caches, positions, bias, sink]), attributes, outputs=3)


def masks(rng, batch, queries, total):
    """A mask of each kind, none of which masks all keys of a query."""
    kind = int(rng.integers(0, 5))
    if kind == 0:
        return None
    if kind == 4:  # ends, then starts
        starts = integers(rng, 0, total, batch)
        return np.concatenate([np.full(batch, total, dtype=np.int32), starts])
    if kind == 1:
        return integers(rng, 1, total + 1, batch)
    shape = (batch, total) if kind == 2 else (batch, queries, total)
    mask = integers(rng, 0, 2, *shape)
    mask[..., 0] = 1
    return mask


@case
def multi_head_attention(rng):
    batch, heads, size = int(rng.integers(1, 3)), int(rng.integers(1, 4)), int(rng.choice([4, 8, 16]))
    value_size = size if chance(rng, 0.7) else int(rng.choice([4, 12]))
    queries, added = int(rng.integers(1, 6)), int(rng.integers(1, 7))
    attributes = {"num_heads": heads}
    past = chance(rng, 0.3)
    causal = chance(rng, 0.3)
    before = int(rng.integers(1, 5)) if past else 0
    if causal or past:
        added = queries
    if past:
        value_size = size
    total = before + added
    split = chance(rng, 0.2) and not past
    if split:
        value_size = size
    query = floats(rng, batch, queries, heads * size)
    key = floats(rng, batch, heads, added, size) if split else floats(rng, batch, added, heads * size)
    value = floats(rng, batch, heads, added, value_size) if split else floats(rng, batch, added, heads * value_size)
    bias = floats(rng, 2 * heads * size + heads * value_size, scale=1) if chance(rng, 0.3) and not split else None
    mask = masks(rng, batch, queries, total)
    if mask is not None and mask.ndim == 1:
        mask = None  # its CPU kernel takes one of the other kinds
    added_bias = floats(rng, int(rng.choice([1, batch])), int(rng.choice([1, heads])), queries, total) \
        if chance(rng, 0.3) else None
    caches = [floats(rng, batch, heads, before, size) for _ in range(2)] if past else [None, None]
    if causal:
        attributes["unidirectional"] = 1
    if chance(rng, 0.3):
        attributes["scale"] = float(rng.uniform(0.05, 0.5))
    if chance(rng, 0.3):
        attributes["mask_filter_value"] = float(rng.choice([-1000.0, -3.4e38]))
    return Case("MultiHeadAttention", filled([query, key, value, bias, mask, added_bias, *caches]), attributes,
                outputs=3 if past or chance(rng, 0.2) and not split else 1)


@case
def attention(rng, quantized=False):
    batch, heads, size = int(rng.integers(1, 3)), int(rng.integers(1, 4)), int(rng.choice([4, 8, 16]))
    queries, width = int(rng.integers(1, 6)), int(rng.integers(1, 40))
    hidden = heads * size
    value_hidden = hidden
    attributes = {"num_heads": heads}
    past = chance(rng, 0.3)
    if not past and not quantized and chance(rng, 0.3):
        value_hidden = heads * int(rng.choice([4, 12]))
        attributes["qkv_hidden_sizes"] = [hidden, hidden, value_hidden]
    before = int(rng.integers(1, 5)) if past else 0
    total = before + queries
    if chance(rng, 0.4):
        attributes["unidirectional"] = 1
    if chance(rng, 0.3) and not quantized:
        attributes["scale"] = float(rng.uniform(0.05, 0.5))
    columns = 2 * hidden + value_hidden
    mask = masks(rng, batch, queries, total)
    cache = floats(rng, 2, batch, heads, before, size) if past else None
    outputs = 2 if past else 1
    if quantized:
        of_input, of_weights = np.uint8, byte_type(rng)  # the CPU has no kernel of int8 inputs
        per_column = chance(rng, 0.3)
        inputs = [bytes_of(rng, of_input, batch, queries, width), bytes_of(rng, of_weights, width, columns),
                  floats(rng, columns), np.float32(0.01), scale_of(rng, *([columns] if per_column else [])) * np.float32(0.05),
                  mask, bytes_of(rng, of_input), bytes_of(rng, of_weights, *([columns] if per_column else [])), cache]
        return Case("QAttention", filled(inputs), attributes, outputs=outputs, constant=(1, 3, 4, 6, 7))
    added_bias = floats(rng, int(rng.choice([1, batch])), int(rng.choice([1, heads])), queries, total) \
        if chance(rng, 0.3) and not past else None  # it takes one of the two
    inputs = [floats(rng, batch, queries, width, scale=1), floats(rng, width, columns, scale=1),
              floats(rng, columns, scale=1), mask, cache, added_bias]
    return Case("Attention", filled(inputs), attributes, outputs=outputs)


@case
def qattention(rng):
    return attention(rng, quantized=True)


# ---- fused operators ----

@case
def fused_matmul(rng):
    rows, depth, columns = (int(n) for n in rng.integers(1, 12, size=3))
    lead = [int(n) for n in rng.integers(1, 4, size=int(rng.integers(0, 3)))]
    trans_a, trans_b = chance(rng), chance(rng)
    a = [*lead, *((depth, rows) if trans_a else (rows, depth))]
    b = [*lead, *((columns, depth) if trans_b else (depth, columns))]
    attributes = {"alpha": float(rng.choice([1.0, 0.125, -2.5, 0.3])), "transA": int(trans_a), "transB": int(trans_b)}
    return Case("FusedMatMul", [floats(rng, *a), floats(rng, *b)], attributes)


ACTIVATIONS = [("Relu", []), ("Tanh", []), ("Sigmoid", []), ("LeakyRelu", [0.1]), ("Clip", [-0.5, 0.75]),
               ("HardSigmoid", [0.2, 0.5])]


@case
def fused_gemm(rng):
    rows, depth, columns = (int(n) for n in rng.integers(1, 16, size=3))
    trans_a, trans_b = chance(rng), chance(rng)
    name, numbers = ACTIVATIONS[int(rng.integers(0, 4))]
    c = [None, (columns,), (rows, 1), (rows, columns)][int(rng.integers(0, 4))]
    attributes = {"alpha": float(rng.choice([1.0, 0.5, -1.5])), "beta": float(rng.choice([1.0, 0.25])),
                  "transA": int(trans_a), "transB": int(trans_b), "activation": name}
    if numbers:
        attributes["activation_alpha"] = numbers[0]
    return Case("FusedGemm", filled([floats(rng, *((depth, rows) if trans_a else (rows, depth))),
                                     floats(rng, *((columns, depth) if trans_b else (depth, columns))),
                                     None if c is None else floats(rng, *c)]), attributes)


@case
def fused_conv(rng):
    group = int(rng.choice([1, 1, 2]))
    channels, outputs, kernel = group * int(rng.integers(1, 4)), group * int(rng.integers(1, 5)), int(rng.choice([1, 3]))
    side = int(rng.integers(kernel, 9))
    name, numbers = ACTIVATIONS[int(rng.integers(0, len(ACTIVATIONS)))]
    pad = int(rng.integers(0, 2))
    attributes = {"group": group, "kernel_shape": [kernel, kernel], "pads": [pad] * 4, "activation": name}
    if numbers:
        attributes["activation_params"] = numbers
    made = side + 2 * pad - kernel + 1
    bias = floats(rng, outputs) if chance(rng) else None
    added = floats(rng, 1, outputs, made, made) if chance(rng) else None
    return Case("FusedConv", filled([floats(rng, 1, channels, side, side),
                                     floats(rng, outputs, channels // group, kernel, kernel), bias, added]), attributes,
                constant=(1, 2))


# ---- mixtures of experts ----

def expert_options(rng, experts):
    """Attributes that MoE and QMoE share, and how many rows of fc1 an inner number has."""
    name = str(rng.choice(["relu", "gelu", "silu", "identity", "swiglu", "swiglu"]))
    attributes = {"activation_type": name, "k": int(rng.integers(1, min(experts, 4) + 1)),
                  "normalize_routing_weights": int(chance(rng))}
    if name != "swiglu":
        return attributes, 1
    attributes["swiglu_fusion"] = 1
    if chance(rng, 0.7):
        attributes |= {"activation_alpha": 1.702, "activation_beta": 1.0}
    if chance(rng):
        attributes["swiglu_limit"] = float(rng.uniform(0.5, 8))
    return attributes, 2


def tokens_shape(rng):
    return (int(rng.integers(1, 20)),) if chance(rng) else (int(rng.integers(1, 3)), int(rng.integers(1, 8)))


def logits_of(rng, shape, experts, dtype):
    """Sometimes with equal ones."""
    logits = floats(rng, int(np.prod(shape)), experts, dtype=dtype, scale=10.0 ** rng.uniform(-0.5, 0.7))
    return np.round(logits) if chance(rng, 0.25) else logits


@case
def moe(rng):
    dtype = float_type(rng)
    shape, hidden, inner, experts = tokens_shape(rng), *(int(n) for n in rng.integers(1, 70, size=2)), int(rng.integers(1, 9))
    attributes, fused = expert_options(rng, experts)
    weights = [floats(rng, experts, fused * inner, hidden, dtype=dtype, scale=hidden ** -0.5),
               floats(rng, experts, fused * inner, dtype=dtype, scale=1) if chance(rng) else None,
               floats(rng, experts, hidden, inner, dtype=dtype, scale=inner ** -0.5),
               floats(rng, experts, hidden, dtype=dtype, scale=1) if chance(rng) else None]
    inputs = [floats(rng, *shape, hidden, dtype=dtype), logits_of(rng, shape, experts, dtype), *weights]
    return Case("MoE", filled(inputs), attributes, constant=(2, 3, 4, 5) if chance(rng) else ())


@case
def qmoe(rng, level=0, bits=None, wide=False):
    bits = bits or int(rng.choice([2, 4, 4, 8]))
    dtype = np.float32 if level or wide else float_type(rng)  # in float16 their sums may hide anything
    block = int(rng.choice([16, 32, 64])) if level or wide or chance(rng) else 0
    step = 128 if wide else block or 8 // bits
    shape, experts = tokens_shape(rng), int(rng.integers(1, 9))
    hidden, inner = (int(rng.integers(1, 3 if wide else max(2, 100 // step))) * step for _ in range(2))
    if block and not (level or wide) and chance(rng, 0.3):
        inner += 8  # an incomplete block
    attributes, fused = expert_options(rng, experts)
    attributes |= {"expert_weight_bits": bits, "accuracy_level": level}
    if block:
        attributes["block_size"] = block
    with_zeros = chance(rng)

    def matrix(rows, depth):
        blocks = -(-depth // block) if block else 1
        packed = bytes_of(rng, np.uint8, experts, rows, depth * bits // 8)
        scales = np.abs(floats(rng, experts, rows, *((blocks,) if block else ()), scale=depth ** -0.5 / 2 ** (bits - 2)))
        zeros = None
        if with_zeros and block:
            zeros = bytes_of(rng, np.uint8, experts, rows, -(-blocks * bits // 8))
        elif with_zeros:
            zeros = bytes_of(rng, np.uint8, experts, -(-rows * bits // 8))
        return packed, scales.astype(dtype), zeros

    first, second = matrix(fused * inner, hidden), matrix(hidden, inner)
    mixing = None
    if chance(rng, 0.3):
        mixing = np.abs(floats(rng, int(np.prod(shape)), experts, dtype=dtype, scale=1))
    inputs = [floats(rng, *shape, hidden, dtype=dtype), logits_of(rng, shape, experts, dtype),
              *first[:2], floats(rng, experts, fused * inner, dtype=dtype, scale=1) if chance(rng) else None,
              *second[:2], floats(rng, experts, hidden, dtype=dtype, scale=1) if chance(rng) else None,
              None, None, None, first[2], second[2], None, mixing]
    # Constant weights of 8 bits in blocks: inputs rounded to int8, at every level.
    constant = (2, 3, 5, 6, 11, 12) if level or not (bits == 8 and block) and chance(rng) else ()
    return Case("QMoE", filled(inputs), attributes, constant=constant)


@case
def qmoe_int8(rng):
    return qmoe(rng, level=4, bits=int(rng.choice([4, 8])))


@case
def qmoe_tables(rng):
    return qmoe(rng, bits=2, wide=True)
