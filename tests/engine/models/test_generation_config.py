"""What a model recommends for sampling, and how it reaches the library and the loaded model."""

import json

import pytest

from engine.core.sampling import Recommended, Sampling
from engine.models.generation_config import read_recommended


def written(folder, content):
    folder.mkdir(exist_ok=True)
    text = content if isinstance(content, str) else json.dumps(content)
    (folder / "generation_config.json").write_text(text, "utf-8")
    return folder


def test_what_the_file_says_is_what_is_recommended(tmp_path):
    stored = {"do_sample": True, "temperature": 0.6, "top_p": 0.95, "top_k": 20, "min_p": 0, "repetition_penalty": 1.05}
    found = read_recommended(written(tmp_path, {**stored, "eos_token_id": [1, 2], "transformers_version": "4.51"}))
    assert found == Recommended(temperature=0.6, top_p=0.95, top_k=20, min_p=0.0, repetition_penalty=1.05)
    assert type(found.min_p) is float
    assert found.values() == {"temperature": 0.6, "top_p": 0.95, "top_k": 20, "min_p": 0.0, "repetition_penalty": 1.05}


def test_what_it_does_not_say_stays_open(tmp_path):
    found = read_recommended(written(tmp_path, {"temperature": 0.6, "top_k": None}))
    assert found.values() == {"temperature": 0.6}


@pytest.mark.parametrize(
    "content",
    ["", "{", "[1]", "null", {"do_sample": False, "temperature": 0.6}, {"eos_token_id": 2}, "[" * 100_000, " " * (2 << 20)],
)
def test_a_file_without_a_recommendation_gives_none(tmp_path, content):
    assert read_recommended(written(tmp_path, content)) == Recommended()


def test_a_folder_without_the_file_gives_none(tmp_path):
    assert read_recommended(tmp_path) == Recommended()


def test_what_is_out_of_bounds_or_no_number_is_left_out(tmp_path):
    stored = {"temperature": 9, "top_p": "high", "top_k": 40, "repetition_penalty": 0.5, "min_p": True}
    assert read_recommended(written(tmp_path, stored)).values() == {"top_k": 40}


def test_only_settings_that_nobody_set_are_filled():
    recommended = Recommended(temperature=0.6, top_k=20)
    filled = recommended.fill(Sampling(temperature=1.5, seed=3), ("top_k", "min_p", "no_such"))
    assert filled == Sampling(temperature=1.5, top_k=20, seed=3)
