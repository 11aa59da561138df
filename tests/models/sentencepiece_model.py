"""SentencePiece itself, made from the vocabulary in a GGUF: what says how a text is to be cut."""


def sentencepiece_processor(metadata):
    """Return a `SentencePieceProcessor` of the `tokenizer.ggml.*` entries `metadata`: a BPE with byte fallback, as Gemma's.

    GGUF writes spaces in user-defined pieces as spaces; SentencePiece writes them “▁”.
    """
    import sentencepiece
    from sentencepiece import sentencepiece_model_pb2 as schema

    model = schema.ModelProto()
    lists = (metadata[f"tokenizer.ggml.{name}"] for name in ("tokens", "scores", "token_type"))
    for token, score, kind in zip(*lists, strict=True):
        model.pieces.add(piece=token.replace(" ", "▁") if kind == 4 else token, score=score, type=kind)
    trainer = model.trainer_spec
    trainer.model_type, trainer.byte_fallback, trainer.vocab_size = schema.TrainerSpec.BPE, True, len(model.pieces)
    for name, key in (("unk", "unknown"), ("bos", "bos"), ("eos", "eos"), ("pad", "padding")):
        index = metadata.get(f"tokenizer.ggml.{key}_token_id", -1)
        setattr(trainer, f"{name}_id", index)
        if index >= 0:
            setattr(trainer, f"{name}_piece", model.pieces[index].piece)
    normalizer = model.normalizer_spec
    normalizer.name, normalizer.escape_whitespaces, normalizer.remove_extra_whitespaces = "identity", True, False
    normalizer.add_dummy_prefix = metadata.get("tokenizer.ggml.add_space_prefix", True)
    return sentencepiece.SentencePieceProcessor(model_proto=model.SerializeToString())
