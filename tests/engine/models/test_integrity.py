"""Why a model folder cannot be used, told before anything is loaded."""

import json
import shutil

import pytest

from engine.core.errors import ModelBroken, ModelUnsupported
from engine.models.integrity import check_folder, problem_of
from tests.models.tiny import tiny_llama


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return tiny_llama(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture
def folder(whole, tmp_path):
    shutil.copytree(whole, tmp_path / "tiny")
    return tmp_path / "tiny"


def change_config(folder, **changed):
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, **changed}))


def split(folder, parts=3):
    """Cut the weights into shards with an index, as the hub has them."""
    import mlx.core as mx

    weights = mx.load(str(folder / "model.safetensors"))
    names = sorted(weights)
    index = {}
    for part in range(parts):
        shard = f"model-{part + 1:05}-of-{parts:05}.safetensors"
        mine = names[part::parts]
        mx.save_safetensors(str(folder / shard), {name: weights[name] for name in mine})
        index.update(dict.fromkeys(mine, shard))
    (folder / "model.safetensors").unlink()
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": index}))


def test_a_whole_folder_has_no_problem(folder):
    check_folder(folder)
    assert problem_of(folder) == ""


def test_a_whole_folder_in_shards_has_no_problem(folder):
    split(folder)
    assert problem_of(folder) == ""


@pytest.mark.parametrize("index", [True, False])
def test_a_missing_shard_is_named(folder, index):
    split(folder)
    (folder / "model-00002-of-00003.safetensors").unlink()
    if not index:
        (folder / "model.safetensors.index.json").unlink()
    with pytest.raises(ModelBroken, match=r"lacks model-00002-of-00003\.safetensors\."):
        check_folder(folder)


def test_several_missing_shards_are_counted(folder):
    split(folder)
    for shard in folder.glob("model-*"):
        shard.unlink()
    assert problem_of(folder) == "tiny lacks model-00001-of-00003.safetensors and 2 more of its files."


@pytest.mark.parametrize("share", [0, 0.001, 0.5, 0.999])
def test_weights_that_are_cut_short_are_found(folder, share):
    data = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(data[: int(len(data) * share)])
    with pytest.raises(ModelBroken, match="cut short"):
        check_folder(folder)


@pytest.mark.parametrize("content", ["", "{", "[]", "[" * 100_000, '"text"'])
def test_a_damaged_config_is_said(folder, content):
    (folder / "config.json").write_text(content)
    with pytest.raises(ModelBroken, match=r"config\.json is damaged"):
        check_folder(folder)


def test_a_missing_config_and_tokenizer_are_said(folder):
    (folder / "tokenizer.json").unlink()
    assert "has no tokenizer" in problem_of(folder)
    (folder / "config.json").unlink()
    assert "has no config.json" in problem_of(folder)


def test_missing_weights_are_said(folder):
    (folder / "model.safetensors").unlink()
    with pytest.raises(ModelBroken, match="has no weights"):
        check_folder(folder)


@pytest.mark.parametrize("name", ["pytorch_model.bin", "consolidated.00.pth", "model.pt", "model.ckpt"])
def test_pickled_weights_are_refused(folder, name):
    (folder / "model.safetensors").rename(folder / name)
    with pytest.raises(ModelUnsupported, match="pickled weights"):
        check_folder(folder)


def test_an_unknown_architecture_is_named(folder):
    change_config(folder, model_type="quantum_llm")
    with pytest.raises(ModelUnsupported, match="“quantum_llm”"):
        check_folder(folder)
    change_config(folder, model_type=None)
    with pytest.raises(ModelBroken, match="does not name an architecture"):
        check_folder(folder)


def test_a_model_with_code_of_its_own_is_refused(folder):
    change_config(folder, model_file="evil.py")
    with pytest.raises(ModelUnsupported, match="Python code of its own"):
        check_folder(folder)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("{", "is damaged"),
        ('{"weight_map": []}', "is damaged"),
        ('{"weight_map": {"x": "../secret.safetensors"}}', "outside its folder"),
        ('{"weight_map": {"x": 3}}', "outside its folder"),
    ],
)
def test_a_damaged_index_is_said(folder, content, text):
    (folder / "model.safetensors.index.json").write_text(content)
    with pytest.raises(ModelBroken, match=text):
        check_folder(folder)


def test_a_link_to_nothing_is_an_unfinished_download(folder):
    (folder / "model.safetensors").unlink()
    (folder / "model.safetensors").symlink_to(folder / "gone")
    with pytest.raises(ModelBroken, match="its download is not finished"):
        check_folder(folder)
