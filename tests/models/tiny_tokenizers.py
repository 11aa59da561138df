"""Small tokenizers of every make that models come with, built here so that tests need no download."""

import json
from functools import cache

from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

CORPUS = (
    "The quick brown fox jumps over the lazy dog. Hello world, hello there! What is the capital of France?\n"
    "def f(x):\n    return x + 1\n\n",
    "Grüße aus Köln; naïve café. 你好，世界。これはテストです。 안녕하세요 Привет мир 😀👍🏽 ❤️ Zürich",
)
CHATML = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def _finished(tokenizer, template=CHATML, extra=()):
    tokenizer.add_special_tokens([AddedToken("<|im_start|>", special=True), AddedToken("<|im_end|>", special=True)])
    tokenizer.add_tokens(list(extra))
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<|im_end|>", chat_template=template)


def byte_level(template=CHATML, extra=(), merges=True):
    """GPT-2's kind, as SmolLM2, Llama 3, Qwen and DeepSeek have it. Without merges every byte is a token."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=420 if merges else 256, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False
    )
    tokenizer.train_from_iterator(CORPUS, trainer)
    return _finished(tokenizer, template, extra)


def sentencepiece(strip=True, template=CHATML, extra=()):
    """SentencePiece's BPE with byte fallback: Llama 2, Mistral and Phi-3 strip the first space, Gemma has none to strip."""
    steps = [normalizers.Prepend("▁")] if strip else []
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    tokenizer.normalizer = normalizers.Sequence([*steps, normalizers.Replace(" ", "▁")])
    tail = [decoders.Strip(" ", 1, 0)] if strip else []
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), *tail])
    specials = [AddedToken(name, special=True) for name in ("<unk>", "<s>", "</s>")]
    bytes_ = [f"<0x{value:02X}>" for value in range(256)]
    trainer = trainers.BpeTrainer(
        vocab_size=480,
        special_tokens=specials,
        initial_alphabet=list("abcdefghijklmnopqrstuvwxyz▁.,"),
        limit_alphabet=90,
        show_progress=False,
    )
    learnt = Tokenizer(models.BPE(unk_token="<unk>"))
    learnt.normalizer = tokenizer.normalizer
    learnt.train_from_iterator(CORPUS[:1], trainer)
    model = json.loads(learnt.to_str())["model"]
    tokens = ["<unk>", "<s>", "</s>", *bytes_, *(token for token in model["vocab"] if token not in ("<unk>", "<s>", "</s>"))]
    vocab = {token: index for index, token in enumerate(tokens)}
    merges = [tuple(merge) for merge in model["merges"]]
    tokenizer.model = models.BPE(vocab=vocab, merges=merges, unk_token="<unk>", fuse_unk=True, byte_fallback=True)
    tokenizer.add_special_tokens(specials)
    return _finished(tokenizer, template, extra)


def metaspace():
    """T5's kind: a Unigram model whose decoder turns “▁” into spaces and drops the first."""
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    tokenizer.train_from_iterator(
        CORPUS, trainers.UnigramTrainer(vocab_size=300, unk_token="<unk>", special_tokens=["<unk>"], show_progress=False)
    )
    return _finished(tokenizer)


def word_piece():
    """BERT's kind: pieces that go on a word start with “##”, spaces are made up by the decoder."""
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.train_from_iterator(
        CORPUS, trainers.WordPieceTrainer(vocab_size=400, special_tokens=["[UNK]"], show_progress=False)
    )
    return _finished(tokenizer)


def end_of_word():
    """The first GPT's kind: “</w>” ends a word, and the decoder makes it a space unless it comes last."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", end_of_word_suffix="</w>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.decoder = decoders.BPEDecoder(suffix="</w>")
    trainer = trainers.BpeTrainer(vocab_size=400, special_tokens=["<unk>"], end_of_word_suffix="</w>", show_progress=False)
    tokenizer.train_from_iterator(CORPUS, trainer)
    return _finished(tokenizer)


def wrapped_byte_level():
    """A byte-level tokenizer whose decoder hides that behind another step, so that bytes can't be told apart."""
    tokenizer = byte_level().backend_tokenizer
    tokenizer.decoder = decoders.Sequence([decoders.ByteLevel(), decoders.Replace("\t", "\t")])
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<|im_end|>", chat_template=CHATML)


KINDS = {
    "byte level": byte_level,
    "byte level without merges": lambda: byte_level(merges=False),
    "SentencePiece that strips": sentencepiece,
    "SentencePiece that keeps": lambda: sentencepiece(strip=False),
    "Metaspace": metaspace,
    "WordPiece": word_piece,
    "end of word": end_of_word,
    "wrapped byte level": wrapped_byte_level,
}


@cache
def tokenizer_of(kind):
    """Return the tokenizer of a kind in `KINDS`, made once."""
    return KINDS[kind]()
