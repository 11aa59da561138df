"""The shape of a model: what each of its layers holds in weights, keeps in its cache, and makes on the way."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Part = Literal["embedding", "output", "attention", "recurrent", "feed-forward", "experts"]
CacheKind = Literal["growing", "sliding", "chunked", "latent"]


@dataclass(frozen=True)
class Matrix:
    """Weights [rows, columns], `copies` times over (experts, heads), of which a token reads `read`.

    `name` is the last part of the module's path in mlx-lm. `packable` says that a quantized model packs it, in groups along
    the columns.
    """

    part: Part
    name: str
    rows: int
    columns: int
    copies: int = 1
    read: int = 1
    packable: bool = True

    @property
    def count(self) -> int:
        """Number of weights."""
        return self.rows * self.columns * self.copies


@dataclass(frozen=True)
class Attention:
    """What a layer's attention keeps and computes. Widths are elements a head.

    `kind` is the cache: `growing`; `sliding` sees the newest `window` tokens; `chunked` keeps the newest `window`; `latent`
    keeps one row of `key_dim` and one of `value_dim` for all heads, and expands them to `query_dim` and `output_dim` a head.
    An indexer keeps `index_dim` more; once there are over `index_most` rows, its `index_heads` score them all. `shared` layers
    read an earlier layer's rows and keep none. `sinks` add a column to the scores; `normed` queries and keys have a norm of
    their own.
    """

    kind: CacheKind
    heads: int
    kv_heads: int
    key_dim: int
    value_dim: int
    window: int = 0
    query_dim: int = 0
    output_dim: int = 0
    shared: bool = False
    sinks: bool = False
    normed: bool = False
    index_dim: int = 0
    index_heads: int = 0
    index_most: int = 0

    @property
    def row(self) -> int:
        """Elements that one token adds to the cache of this layer."""
        return 0 if self.shared else self.kv_heads * (self.key_dim + self.value_dim) + self.index_dim


@dataclass(frozen=True)
class Recurrent:
    """A state of constant size: `tail` elements of the newest inputs in the activations' own type, `state` in float32.

    `mixed` is the elements of one such input, `width` those that a token has in the layer, all intermediate results together;
    `heads` are those of a state space's scores within a chunk (0: none).
    """

    kind: Literal["gated delta", "state space", "convolution"]
    tail: int
    state: int
    mixed: int
    width: int
    heads: int = 0


@dataclass(frozen=True)
class Layer:
    """One layer. `vectors` counts the weights that are never packed: norms, biases, scales.

    `inner` is the elements that a token has in the feed-forward part, all intermediate results together.
    """

    attention: Attention | None
    recurrent: Recurrent | None
    matrices: tuple[Matrix, ...]
    vectors: int
    inner: int


@dataclass(frozen=True)
class Shape:
    """A model's language part. `known` is False where the architecture is not one that was checked against mlx-lm."""

    module: str
    hidden: int
    vocab: int
    context: int
    layers: tuple[Layer, ...]
    extra: tuple[Matrix, ...]
    vectors: int
    known: bool
    config: Mapping[str, Any] = field(repr=False, compare=False)

    @property
    def matrices(self) -> tuple[tuple[int | None, Matrix], ...]:
        """Every matrix with the index of its layer; None for those outside the layers."""
        inside = tuple((index, matrix) for index, layer in enumerate(self.layers) for matrix in layer.matrices)
        return (*((None, matrix) for matrix in self.extra), *inside)

    @property
    def parameters(self) -> int:
        """Number of weights, norms and biases included."""
        vectors = self.vectors + sum(layer.vectors for layer in self.layers)
        return vectors + sum(matrix.count for _, matrix in self.matrices)
