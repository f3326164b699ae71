#!/usr/bin/env python3
"""Trains a small language model on the generated reviews and writes it as people ship decoders: tokens, mask, positions
and caches in, logits and grown caches out (input_ids, attention_mask, position_ids, past_key_values.N.key → present.N.key).

    tools/zoo/decoder.py --out FOLDER               decoder.onnx, of 490 words, 150 kB, and tokenizer.json
    tools/zoo/decoder.py --out FOLDER --random --width 1024 --layers 8 --words 32000   to measure: random weights

Layers as in Radford et al. 2019, with normalization first; the logits' weights are those of the embedding, but with
--random, where they are weights apart, so that a quantizer finds them. PyTorch trains it, and the ONNX graph is written
node by node, so that every value has a name that a person can read.
"""
import argparse
import json
import math
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import nn

import preprocess
import reviews

MASKED = -1e9


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.query, self.key, self.value = (nn.Linear(width, width, bias=False) for _ in range(3))
        self.out = nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x, hidden):
        """x: [N, L, WIDTH]; hidden: [L, L], true where a key lies behind the query."""
        count, length, width = x.shape
        normed = self.norm1(x)
        query, key, value = (part(normed).reshape(count, length, self.heads, -1).transpose(1, 2)
                             for part in (self.query, self.key, self.value))
        scores = query @ key.transpose(2, 3) / math.sqrt(width // self.heads)
        mixed = torch.softmax(scores.masked_fill(hidden, MASKED), -1) @ value
        x = x + self.out(mixed.transpose(1, 2).reshape(x.shape))
        up = self.up(self.norm2(x))
        return x + self.down(up * torch.sigmoid(up))


class DecoderLM(nn.Module):
    """Words [N, L] → logits [N, L, words]."""

    def __init__(self, words, length, width, heads, layers):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.positions = nn.Embedding(length, width)
        nn.init.normal_(self.words.weight, std=0.05)
        nn.init.normal_(self.positions.weight, std=0.02)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(width)

    def forward(self, tokens):
        length = tokens.shape[1]
        hidden = torch.ones(length, length, dtype=torch.bool).triu(1)
        x = self.words(tokens) + self.positions.weight[:length]
        for block in self.blocks:
            x = block(x, hidden)
        return self.norm(x) @ self.words.weight.T


def train(model, texts, steps, seed):
    """texts: int64 [N, L], 0 pads at the end."""
    optimizer = torch.optim.AdamW(model.parameters(), 4e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 4e-3, total_steps=steps)
    random = np.random.default_rng(seed)
    for step in range(steps):
        batch = torch.from_numpy(texts[random.integers(0, len(texts), 32)])
        logits = model(batch[:, :-1])
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten(), ignore_index=0)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        if step % 100 == 0 or step == steps - 1:
            print(f"step {step}: loss {loss.item():.3f}", flush=True)


class Writer:
    """Nodes called by what they are for, each with one output of its name."""

    def __init__(self):
        self.nodes, self.weights = [], []

    def weight(self, name, values):
        self.weights.append(numpy_helper.from_array(np.asarray(values), name))
        return name

    def __call__(self, op, name, *inputs, **attributes):
        self.nodes.append(helper.make_node(op, list(inputs), [name], name=name, **attributes))
        return name


def _linear(write, name, module, x):
    weight = write.weight(f"{name}.weight", module.weight.detach().numpy().T.copy())
    if module.bias is None:
        return write("MatMul", name, x, weight)
    product = write("MatMul", f"{name}.product", x, weight)
    return write("Add", name, product, write.weight(f"{name}.bias", module.bias.detach().numpy()))


def _norm(write, name, module, x):
    scale = write.weight(f"{name}.scale", module.weight.detach().numpy())
    bias = write.weight(f"{name}.bias", module.bias.detach().numpy())
    return write("LayerNormalization", name, x, scale, bias, axis=-1, epsilon=module.eps)


def _visible(write):
    """[batch, 1, sequence, total]: keys that are not behind the query, nor masked."""
    total = write("Shape", "mask.total", "attention_mask", start=1, end=2)
    count = write("Squeeze", "mask.count", total)
    zero, one = write.weight("zero", np.int64(0)), write.weight("one", np.int64(1))
    keys = write("Range", "mask.keys", zero, count, one)
    queries = write("Unsqueeze", "mask.queries", "position_ids", write.weight("query_axes", np.array([1, 3])))
    before = write("LessOrEqual", "mask.before", keys, queries)
    given = write("Cast", "mask.given", "attention_mask", to=TensorProto.BOOL)
    given = write("Unsqueeze", "mask.given_keys", given, write.weight("key_axes", np.array([1, 2])))
    return write("And", "mask.visible", before, given)


def _attention(write, index, block, x, visible):
    name, width = f"blocks.{index}.attention", block.out.weight.shape[0]
    split = write.weight(f"{name}.split", np.array([0, 0, block.heads, width // block.heads]))
    parts = {}
    for part in ("query", "key", "value"):
        made = _linear(write, f"{name}.{part}", getattr(block, part), x)
        heads = write("Reshape", f"{name}.{part}.heads", made, split)
        parts[part] = write("Transpose", f"{name}.{part}.by_head", heads, perm=[0, 2, 1, 3])
    for part in ("key", "value"):
        parts[part] = write("Concat", f"present.{index}.{part}", f"past_key_values.{index}.{part}", parts[part], axis=2)
    turned = write("Transpose", f"{name}.key.turned", parts["key"], perm=[0, 1, 3, 2])
    products = write("MatMul", f"{name}.products", parts["query"], turned)
    scale = write.weight(f"{name}.scale", np.float32(1 / math.sqrt(width // block.heads)))
    scores = write("Mul", f"{name}.scores", products, scale)
    masked = write("Where", f"{name}.masked", visible, scores, write.weight(f"{name}.hidden", np.float32(MASKED)))
    weights = write("Softmax", f"{name}.weights", masked, axis=-1)
    mixed = write("MatMul", f"{name}.mixed", weights, parts["value"])
    turned = write("Transpose", f"{name}.by_word", mixed, perm=[0, 2, 1, 3])
    joined = write("Reshape", f"{name}.joined", turned, write.weight(f"{name}.join", np.array([0, 0, width])))
    return _linear(write, f"{name}.out", block.out, joined)


def write_onnx(model, path, apart=False):
    """`apart`: the logits have weights of their own, which then are quantized with the others."""
    write = Writer()
    table = write.weight("words.weight", model.words.weight.detach().numpy())
    places = write.weight("positions.weight", model.positions.weight.detach().numpy())
    words = write("Gather", "words", table, "input_ids")
    positions = write("Gather", "positions", places, "position_ids")
    x = write("Add", "embedding", words, positions)
    visible = _visible(write)
    for index, block in enumerate(model.blocks):
        mixed = _attention(write, index, block, _norm(write, f"blocks.{index}.norm1", block.norm1, x), visible)
        x = write("Add", f"blocks.{index}.attended", x, mixed)
        up = _linear(write, f"blocks.{index}.up", block.up, _norm(write, f"blocks.{index}.norm2", block.norm2, x))
        gate = write("Sigmoid", f"blocks.{index}.gate", up)
        hidden = write("Mul", f"blocks.{index}.hidden", up, gate)
        x = write("Add", f"blocks.{index}.done", x, _linear(write, f"blocks.{index}.down", block.down, hidden))
    if apart:
        turned = write.weight("logits.weight", model.words.weight.detach().numpy().T.copy())
    else:
        turned = write("Transpose", "words.turned", table, perm=[1, 0])
    write("MatMul", "logits", _norm(write, "norm", model.norm, x), turned)

    heads = model.blocks[0].heads
    size = model.words.weight.shape[1] // heads
    caches = [f"{index}.{part}" for index in range(len(model.blocks)) for part in ("key", "value")]

    def value(name, dtype, shape):
        return helper.make_tensor_value_info(name, dtype, shape)

    inputs = [value("input_ids", TensorProto.INT64, ["batch", "sequence"]),
              value("attention_mask", TensorProto.INT64, ["batch", "total"]),
              value("position_ids", TensorProto.INT64, ["batch", "sequence"])]
    inputs += [value(f"past_key_values.{cache}", TensorProto.FLOAT, ["batch", heads, "past", size]) for cache in caches]
    outputs = [value("logits", TensorProto.FLOAT, ["batch", "sequence", len(model.words.weight)])]
    outputs += [value(f"present.{cache}", TensorProto.FLOAT, ["batch", heads, "total", size]) for cache in caches]
    graph = helper.make_graph(write.nodes, "decoder", inputs, outputs, write.weights)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(made, full_check=True)
    onnx.save(made, path)


def tokenizer_of(words):
    """tokenizer.json in Hugging Face's format: preprocess.words_of for texts in ASCII; a word's place is its token."""
    return {"version": "1.0", "truncation": None, "padding": None, "added_tokens": [],
            "normalizer": {"type": "Sequence", "normalizers": [
                {"type": "Replace", "pattern": {"String": "<br />"}, "content": " "}, {"type": "Lowercase"}]},
            "pre_tokenizer": {"type": "Split", "pattern": {"Regex": "[a-z0-9](?:[a-z0-9']*[a-z0-9])?"},
                              "behavior": "Removed", "invert": True},
            "post_processor": None, "decoder": None,
            "model": {"type": "WordLevel", "vocab": {word: place for place, word in enumerate(words)},
                      "unk_token": "<unk>"}}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="the folder of decoder.onnx")
    parser.add_argument("--steps", type=int, default=900)
    parser.add_argument("--width", type=int, default=32)
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--length", type=int, default=96, help="the most tokens of a text")
    parser.add_argument("--words", type=int, help="of the vocabulary, with --random")
    parser.add_argument("--random", action="store_true", help="random weights: nothing is trained")
    parser.add_argument("--seed", type=int, default=5)
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    torch.set_num_threads(1)
    texts = [] if options.random else reviews.make(seed=11, count=16000)[0]  # as datasets.film_reviews
    words = reviews.vocabulary(texts, preprocess.words_of)
    count = options.words or 490 if options.random else len(words)
    model = DecoderLM(count, options.length, options.width, options.heads, options.layers)
    if texts:
        description = preprocess.describe_text(options.length, "", "right", "start", list(reviews.LABELS))
        train(model, preprocess.encode(description, words, texts), options.steps, options.seed)
    options.out.mkdir(parents=True, exist_ok=True)
    write_onnx(model.eval(), options.out / "decoder.onnx", apart=options.random)
    if texts:
        (options.out / "tokenizer.json").write_text(json.dumps(tokenizer_of(words), indent=0) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
