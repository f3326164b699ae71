"""native/text beside the library tokenizers: tokenizers of each kind are trained on generated texts of many scripts, and
every token and every decoded text of thousands of random strings is compared. SEED=N repeats a run; TEXTS=N asks for more."""
import json
import os
import random
import struct
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

ROOT = Path(__file__).resolve().parents[3]
SEED = int(os.environ.get("SEED", time.time()))
TEXTS = int(os.environ.get("TEXTS", 1000))
rnd = random.Random(SEED)
PROGRAM = os.environ.get("DRIFTSCOPE", str(ROOT / "build/native/driftscope"))
# Characters that Unicode has had since version 9: the library's tables are older than utf8proc's.
RANGES = [(0x20, 0x7e)] * 6 + [
    (0xa0, 0x17f), (0x370, 0x377), (0x391, 0x3a1), (0x400, 0x4ff), (0x5d0, 0x5ea), (0x620, 0x64a), (0x905, 0x939), (0xe01, 0xe3a),
    (0x3041, 0x3096), (0x4e00, 0x4fff), (0xac00, 0xae00), (0x300, 0x36f), (0x1f300, 0x1f5ff), (0x1e00, 0x1eff), (0xff01, 0xff60),
    (0x2000, 0x2064), (0xfb00, 0xfb06), (0x660, 0x669), (0x2160, 0x217f), (0x1d400, 0x1d450)]
WORDS = ("the a of and to in it's I'm don't we'll you'VE 123 2024 3.14 hello World test tokens, naïve café Straße ſ's İstanbul ЁЛКА "
         "Привет мир 你好世界 日本語 テスト 한국어 नमस्ते مرحبا שלום ไทย 👩\u200d👩\u200d👧 🇩🇪 e\u0301 \u1e69 ﬁne Ⅷ ½ ①").split()
SPACES = [" ", "  ", "\n", "\t", " \n ", "\u00a0", "\u3000", "\r\n", "   ", "\u2028", "\u200d", "\u0085", "\u180e", ""]
EXTRA = ["<s>", "</s>", "[CLS]", "[MASK]", "<|end|>", " <x> ", "<X>", "▁"]
WORDS_OF = {
    "llama3": r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    "qwen2": r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    "gpt4": r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+",
    "gpt4o": "|".join([
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"\p{N}{1,3}", r" ?[^\s\p{L}\p{N}]+[\r\n/]*", r"\s*[\r\n]+", r"\s+(?!\S)", r"\s+"])}


def text():
    parts = []
    for _ in range(rnd.randint(0, 12)):
        kind = rnd.random()
        if kind < 0.55:
            parts.append(rnd.choice(WORDS))
        elif kind < 0.85:
            low, high = rnd.choice(RANGES)
            parts.append("".join(chr(rnd.randint(low, high)) for _ in range(rnd.randint(1, 5))))
        else:
            parts.append(rnd.choice(EXTRA))
        parts.append(rnd.choice(SPACES) if rnd.random() < 0.4 else " ")
    return "".join(parts)


CORPUS = [text() for _ in range(3000)]


def trained(model, trainer, corpus=CORPUS, **parts):
    tokenizer = Tokenizer(model)
    for name, part in parts.items():
        setattr(tokenizer, name, part)
    tokenizer.train_from_iterator(corpus, trainer)
    tokenizer.add_special_tokens(["<s>", "</s>", AddedToken("[MASK]", lstrip=True, special=True)])
    tokenizer.add_tokens([AddedToken("<x>", normalized=True), AddedToken("hello", single_word=True),
                          AddedToken("<|end|>", rstrip=True, normalized=False)])
    return tokenizer


def around(tokenizer, kind, first, last):
    return kind((last, tokenizer.token_to_id(last)), (first, tokenizer.token_to_id(first)))


def start(tokenizer):
    return processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", tokenizer.token_to_id("<s>"))])


def bytes_trainer():
    return trainers.BpeTrainer(vocab_size=1500, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False)


def bytes_split(name, **parts):
    split = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(WORDS_OF[name]), "isolated"),
                                     pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    tokenizer = trained(models.BPE(ignore_merges=name == "llama3"), bytes_trainer(), pre_tokenizer=split,
                        decoder=decoders.ByteLevel(), **parts)
    tokenizer.post_processor = processors.Sequence([processors.ByteLevel(trim_offsets=False), start(tokenizer)])
    return tokenizer


def gpt2():
    tokenizer = trained(models.BPE(), bytes_trainer(), pre_tokenizer=pre_tokenizers.ByteLevel(add_prefix_space=False),
                        decoder=decoders.ByteLevel())
    tokenizer.post_processor = around(tokenizer, processors.RobertaProcessing, "<s>", "</s>")
    return tokenizer


def llama2():
    trainer = trainers.BpeTrainer(vocab_size=900, limit_alphabet=150, show_progress=False,
                                  special_tokens=["<unk>", "<s>", "</s>"] + [f"<0x{i:02X}>" for i in range(256)])
    tokenizer = trained(
        models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True), trainer, CORPUS[:300],
        normalizer=normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]),
        decoder=decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]))
    tokenizer.post_processor = start(tokenizer)
    return tokenizer


def metaspace():
    trainer = trainers.BpeTrainer(vocab_size=900, limit_alphabet=150, special_tokens=["<unk>"], show_progress=False)
    return trained(models.BPE(unk_token="<unk>"), trainer, CORPUS[:300], pre_tokenizer=pre_tokenizers.Metaspace(prepend_scheme="first"),
                   decoder=decoders.Metaspace(prepend_scheme="first"))


def bert(**how):
    trainer = trainers.WordPieceTrainer(vocab_size=1500, limit_alphabet=400, special_tokens=["[UNK]", "[CLS]", "[SEP]"],
                                        show_progress=False)
    tokenizer = trained(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=20), trainer,
                        normalizer=normalizers.BertNormalizer(**how), pre_tokenizer=pre_tokenizers.BertPreTokenizer(),
                        decoder=decoders.WordPiece())
    tokenizer.post_processor = around(tokenizer, processors.BertProcessing, "[CLS]", "[SEP]")
    return tokenizer


def unigram():
    trainer = trainers.UnigramTrainer(vocab_size=4000, special_tokens=["<unk>"], unk_token="<unk>", show_progress=False)
    return trained(models.Unigram(), trainer, pre_tokenizer=pre_tokenizers.Metaspace(), decoder=decoders.Metaspace(),
                   normalizer=normalizers.Sequence([normalizers.Nmt(), normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")]))


def words(normalizer, *steps):
    trainer = trainers.WordLevelTrainer(vocab_size=4000, special_tokens=["[UNK]"], show_progress=False)
    return trained(models.WordLevel(unk_token="[UNK]"), trainer, normalizer=normalizer, pre_tokenizer=pre_tokenizers.Sequence(list(steps)))


def charsmap():
    """A map of characters as SentencePiece stores it: of a double array (Darts-clone) only single bytes are used, whose leaves
    lie 128 behind them."""
    units, texts = [0] * 256, b""
    for key, value in {"a": "bb", "e": "", "1": "é", "T": "t"}.items():
        units[ord(key)] = ord(key) | 1 << 8 | 128 << 10
        units[ord(key) ^ 128] = 1 << 31 | len(texts)
        texts += value.encode() + b"\0"
    return normalizers.Precompiled(struct.pack("<257I", 1024, *units) + texts)


KINDS = {
    "gpt2": gpt2,
    "llama3": lambda: bytes_split("llama3"),
    "qwen2": lambda: bytes_split("qwen2", normalizer=normalizers.NFC()),
    "gpt4": lambda: bytes_split("gpt4"),
    "gpt4o": lambda: bytes_split("gpt4o"),
    "llama2": llama2,
    "metaspace": metaspace,
    "bert": bert,
    "bert_cased": lambda: bert(lowercase=False, strip_accents=False),
    "unigram": unigram,
    "words": lambda: words(
        normalizers.Sequence([normalizers.NFD(), normalizers.StripAccents(), normalizers.Lowercase(), normalizers.Strip()]),
        pre_tokenizers.Whitespace(), pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.Punctuation("merged_with_previous")),
    "charsmap": lambda: words(charsmap(), pre_tokenizers.WhitespaceSplit()),
    "splits": lambda: words(
        normalizers.NFKD(), pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Digits(), pre_tokenizers.Punctuation("contiguous"),
        pre_tokenizers.Split("e", "merged_with_next")),
}


class TokenizersTest(unittest.TestCase):
    def test_every_kind_gives_the_same_tokens_and_texts(self):
        print(f"seed {SEED}", flush=True)
        with tempfile.TemporaryDirectory() as folder:
            for name, make in KINDS.items():
                with self.subTest(name):
                    self.compare(name, make(), Path(folder))

    def compare(self, name, tokenizer, folder):
        texts = [text() for _ in range(TEXTS)]
        tokenizer.save(str(folder / "tokenizer.json"))
        (folder / "texts.json").write_text(json.dumps(texts))
        subprocess.run([PROGRAM, "tokens", folder / "tokenizer.json", "--file", folder / "texts.json", "--json", folder / "out.json"],
                       check=True)
        count = 0
        for source, ours in zip(texts, json.loads((folder / "out.json").read_text()), strict=True):
            tokens = tokenizer.encode(source).ids
            self.assertEqual(tokens, ours["tokens"], ascii(source))
            self.assertEqual(tokenizer.decode(tokens), ours["text"], ascii(source))
            count += len(tokens)
        self.assertGreater(count, 3 * TEXTS)
        print(f"{name}: {len(texts)} texts, {count} tokens, the same", flush=True)


if __name__ == "__main__":
    unittest.main()
