"""The table of architectures and quantizations: a file of each from a tiny random model, imported and compared."""

import functools

import numpy as np
import pytest

from engine.models.gguf import import_gguf
from engine.models.gguf_header import read_header
from engine.models.gguf_model import ARCHITECTURES, read_model
from engine.models.gguf_weights import convert, specs
from engine.models.integrity import problem_of
from engine.models.load_plan import plan_load
from tests.models.gguf_blocks import IQ_QUANTS, K_QUANTS
from tests.models.loading import load_folder
from tests.models.tiny_families import FAMILIES, IDS, WRITABLE, family_gguf, logits, random_weights

# How far the logits of a token may be from those of the weights before they were quantized: root mean square, in parts of theirs.
NEAR = {"F32": 1e-5, "F16": 3e-3, "BF16": 2e-2, "Q8_0": 4e-2, "Q5_1": 0.4, "Q5_0": 0.4, "Q4_1": 0.5, "Q4_0": 0.6, "MXFP4": 0.7}
VARIANTS = tuple(family for family in FAMILIES if "," in family)
CELLS = [(family, kind) for family in FAMILIES for kind in (("F16", "Q8_0", "Q4_0") if family in VARIANTS else WRITABLE)]
BLOCK_CELLS = [(family, kind) for family in FAMILIES if family not in VARIANTS for kind in K_QUANTS + IQ_QUANTS]
DTYPES = {"F16": np.float16, "F32": np.float32}


@functools.cache
def original(family):
    return logits(family, random_weights(family))


def imported_logits(folder):
    import mlx.core as mx
    from mlx_lm.utils import load_model

    model, _ = load_model(folder)
    model.set_dtype(mx.float32)
    return np.array(model(mx.array([IDS])))[0]


def distance(ours, theirs):
    # The token in the middle: where two experts are as good, a little noise takes the other one.
    return float(np.median(np.sqrt(((ours - theirs) ** 2).mean(-1) / theirs.var())))


def test_every_architecture_that_is_read_is_in_the_table():
    import gguf

    assert {gguf.MODEL_ARCH_NAMES[gguf.MODEL_ARCH[name]] for name, _ in FAMILIES.values()} == set(ARCHITECTURES)


@pytest.mark.parametrize(("family", "kind"), CELLS)
def test_the_logits_are_those_of_the_weights_in_the_file_and_near_those_before(tmp_path, family, kind):
    stored = family_gguf(tmp_path / "tiny.gguf", family, kind)
    folder = import_gguf(tmp_path / "tiny.gguf", tmp_path / "models")
    assert problem_of(folder) == ""
    ours, theirs = imported_logits(folder), logits(family, stored)
    assert original(family).std() > 0.3
    np.testing.assert_allclose(ours, theirs, atol=1e-3 * np.abs(theirs).max())
    assert distance(ours, original(family)) < NEAR[kind]


@pytest.mark.parametrize("kind", ["Q4_K", "Q5_K", "Q6_K", "IQ3_S"])
@pytest.mark.parametrize("family", [family for family in FAMILIES if family not in VARIANTS])
def test_what_is_rounded_gives_logits_near_those_of_the_weights_in_the_file(tmp_path, family, kind):
    stored = family_gguf(tmp_path / "tiny.gguf", family, kind)
    ours, theirs = imported_logits(import_gguf(tmp_path / "tiny.gguf", tmp_path / "models")), logits(family, stored, 256)
    assert np.abs(theirs).max() > 0.1
    assert distance(ours, theirs) < 0.03


@pytest.mark.parametrize("family", ["llama", "gpt-oss"])
def test_mxfp4_is_computed_in_one_type_on_a_cpu(tmp_path, family):
    import mlx.core as mx
    from mlx.utils import tree_flatten

    family_gguf(tmp_path / "tiny.gguf", family, "MXFP4")
    folder = import_gguf(tmp_path / "tiny.gguf", tmp_path / "models")
    loaded = load_folder(folder)
    types = {array.dtype for _, array in tree_flatten(loaded.model.parameters())}
    assert types == {mx.float32}
    plan = plan_load(folder, metal=False, memory_bytes=2**34)
    assert plan.weights_bytes == sum(array.nbytes for _, array in tree_flatten(loaded.model.parameters()))


@pytest.mark.parametrize(("family", "kind"), BLOCK_CELLS)
def test_what_the_gguf_package_reads_is_imported_bit_for_bit(tmp_path, family, kind):
    path = tmp_path / "tiny.gguf"
    stored = family_gguf(path, family, kind)
    header, data = read_header(path), path.read_bytes()
    found = {}
    for planned in read_model(header).tensors:
        (spec,) = specs(planned, None)
        parts = b"".join(convert(header, planned, lambda offset, size: data[offset : offset + size], None))
        found[spec.name] = np.frombuffer(parts, DTYPES[spec.dtype]).reshape(spec.shape)
    assert found.keys() == stored.keys()
    for name, ours in found.items():
        # A norm with 1 added has lost its last bits in the file.
        exact = not ("norm" in name and "gemma" in family)
        np.testing.assert_allclose(ours, stored[name].astype(ours.dtype), rtol=0, atol=0 if exact else 2e-7, err_msg=name)
