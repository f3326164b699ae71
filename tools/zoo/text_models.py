"""Classifiers of token sequences: TextCNN, LSTM, GRU, and a transformer encoder.

Each takes int64 N×LENGTH (index 0 pads) and ends in `probabilities`, N×2. The sizes given are those
of the shipped models; full.py builds the full ones.
"""
import math

import torch
from torch import nn


class TextCNN(nn.Module):
    """Convolutions of three widths over the words, the largest of each over time (Kim 2014)."""

    def __init__(self, words, embedding=32, channels=32, widths=(3, 4, 5), classes=2):
        super().__init__()
        self.embedding = nn.Embedding(words, embedding)
        self.convs = nn.ModuleList(nn.Conv1d(embedding, channels, width) for width in widths)
        self.relu = nn.ReLU()
        self.pool = nn.AdaptiveMaxPool1d(1)
        self.flatten = nn.Flatten()
        self.dropout = nn.Dropout(0.3)
        self.fc = nn.Linear(channels * len(widths), classes)
        self.softmax = nn.Softmax(dim=1)

    def forward(self, tokens):
        words = self.embedding(tokens).transpose(1, 2)
        features = torch.cat([self.pool(self.relu(conv(words))) for conv in self.convs], 1)
        return self.softmax(self.fc(self.dropout(self.flatten(features))))


class LSTM(nn.Module):
    """One layer (Hochreiter and Schmidhuber 1997); the answer comes from its last step."""

    def __init__(self, words, embedding=32, hidden=48, classes=2):
        super().__init__()
        self.embedding = nn.Embedding(words, embedding)
        self.lstm = nn.LSTM(embedding, hidden, batch_first=True)
        self.fc = nn.Linear(hidden, classes)
        self.softmax = nn.Softmax(dim=1)

    def forward(self, tokens):
        steps, _ = self.lstm(self.embedding(tokens))
        return self.softmax(self.fc(steps[:, -1]))


class GRU(nn.Module):
    """One layer (Cho et al. 2014); the answer comes from its final state."""

    def __init__(self, words, embedding=32, hidden=48, classes=2):
        super().__init__()
        self.embedding = nn.Embedding(words, embedding)
        self.gru = nn.GRU(embedding, hidden, batch_first=True)
        self.fc = nn.Linear(hidden, classes)
        self.softmax = nn.Softmax(dim=1)

    def forward(self, tokens):
        _, state = self.gru(self.embedding(tokens))
        return self.softmax(self.fc(state[-1]))


class Attention(nn.Module):
    """Scaled dot-product attention of several heads, written out (Vaswani et al. 2017)."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.query, self.key = nn.Linear(width, width), nn.Linear(width, width)
        self.value, self.out = nn.Linear(width, width), nn.Linear(width, width)
        self.softmax = nn.Softmax(dim=-1)

    def split(self, x):
        """N×L×WIDTH → N×HEADS×L×(WIDTH/HEADS)."""
        return x.reshape(x.shape[0], x.shape[1], self.heads, -1).transpose(1, 2)

    def forward(self, x, padded):
        query, key, value = (self.split(part(x)) for part in (self.query, self.key, self.value))
        scores = torch.matmul(query, key.transpose(2, 3)) / math.sqrt(query.shape[-1])
        weights = self.softmax(scores.masked_fill(padded[:, None, None, :], -1e9))
        mixed = torch.matmul(weights, value).transpose(1, 2)
        return self.out(mixed.reshape(x.shape))


class EncoderLayer(nn.Module):
    """Normalization first (Xiong et al. 2020); Gelu is the exact one, by Erf."""

    def __init__(self, width, heads, hidden):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.fc1, self.gelu, self.fc2 = nn.Linear(width, hidden), nn.GELU(), nn.Linear(hidden, width)

    def forward(self, x, padded):
        x = x + self.attention(self.norm1(x), padded)
        return x + self.fc2(self.gelu(self.fc1(self.norm2(x))))


class Transformer(nn.Module):
    """Encoder layers over words and learned positions; the mean of the words that are not padding."""

    def __init__(self, words, length=96, width=32, heads=4, hidden=64, layers=2, classes=2):
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.position = nn.Parameter(0.02 * torch.randn(length, width))
        self.layers = nn.ModuleList(EncoderLayer(width, heads, hidden) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.fc = nn.Linear(width, classes)
        self.softmax = nn.Softmax(dim=1)

    def forward(self, tokens):
        padded = tokens == 0
        x = self.embedding(tokens) + self.position
        for layer in self.layers:
            x = layer(x, padded)
        kept = (~padded).to(x.dtype)[:, :, None]
        mean = (self.norm(x) * kept).sum(1) / kept.sum(1).clamp(min=1)
        return self.softmax(self.fc(mean))
