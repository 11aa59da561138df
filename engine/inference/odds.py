"""How likely the written tokens and the likeliest others were, taken within each step and dropped from the GPU at once."""

from collections.abc import Sequence
from typing import Any, cast

import mlx.core as mx

from engine.core.odds import PART, TokenOdds
from engine.inference.detokenize import Detokenizer
from engine.inference.token_faces import TokenFaces

type Measured = tuple[mx.array, mx.array, mx.array]
"""Ids [k] of the likeliest, their log-probabilities [k], and that of the drawn token; not evaluated when they are made."""


class Odds:
    """Keeps the odds of one reply's tokens: of each the `count` likeliest, by the model's own distribution.

    `before` are the ids the reply has already, for one that goes on.
    """

    def __init__(self, tokenizer: Any, count: int, before: Sequence[int] = ()) -> None:
        self._count = count
        self._faces = TokenFaces(tokenizer)
        self._characters = Detokenizer(tokenizer)
        for index in before:
            self._characters.add(index)
        self._ids: list[int] = []
        self._logprobs: list[float] = []
        self._other_ids: list[int] = []
        self._other_logprobs: list[float] = []

    def measure(self, logits: mx.array, token: mx.array) -> Measured:
        """Return what is kept of a step, from its logits [V] and the drawn id; a part of the step's graph."""
        scores = logits.astype(mx.float32)
        self._count = min(self._count, scores.size)
        total = mx.logsumexp(scores)
        ids = mx.argpartition(-scores, self._count - 1)[: self._count]
        ids = ids[mx.argsort(-scores[ids])]
        return ids, scores[ids] - total, scores[token] - total

    def keep(self, token: int, measured: Measured) -> None:
        """Keep what a step measured; its arrays are evaluated by then."""
        ids, logprobs, own = measured
        self._ids.append(token)
        self._logprobs.append(cast(float, own.item()))
        self._other_ids += cast("list[int]", ids.tolist())
        self._other_logprobs += cast("list[float]", logprobs.tolist())

    def of(self, written: int) -> TokenOdds:
        """Return the odds of the first `written` tokens; the one that ended the turn is not among them."""
        ids, count = self._ids[:written], self._count
        pieces = [self._characters.add(index) for index in ids]
        if pieces:
            pieces[-1] += self._characters.finish()
        others = self._other_ids[: written * count]
        faces = self._faces.faces([*ids, *others])
        return TokenOdds(
            count=count,
            ids=tuple(ids),
            pieces=tuple(pieces),
            logprobs=tuple(self._logprobs[:written]),
            other_ids=tuple(others),
            other_logprobs=tuple(self._other_logprobs[: written * count]),
            known_ids=tuple(faces),
            texts=tuple(face.text or PART + face.bytes.hex() for face in faces.values()),
        )
