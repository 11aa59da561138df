import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.core.errors import SettingsError
from engine.core.logit_bias import Bias, read_biases
from engine.core.settings import BY_NAME, Sampling, build


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ()),
        ("\n  \n", ()),
        ("late=-5", (Bias("late", -5.0),)),
        (" late=-5\r\n\nmid=+2.5 ", (Bias(" late", -5.0), Bias("mid", 2.5))),
        ("#123=100", (Bias(123, 100.0),)),
        (" #7 =1", (Bias(7, 1.0),)),
        (r"\#7=1", (Bias("#7", 1.0),)),
        ("#tag=1", (Bias("#tag", 1.0),)),
        ("#=1", (Bias("#", 1.0),)),
        ("==1", (Bias("=", 1.0),)),
        ("a=b=-100", (Bias("a=b", -100.0),)),
        (r"\n=3", (Bias("\n", 3.0),)),
        (r"\\n=3", (Bias(r"\n", 3.0),)),
        (r"\d=3", (Bias(r"\d", 3.0),)),
        ("é=1e1", (Bias("é", 10.0),)),
    ],
)
def test_one_token_and_its_bias_stand_on_a_line(text, expected):
    assert read_biases(text) == expected


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("late", "line 1: “late” is not token=bias"),
        ("a=1\nlate", "line 2: “late”"),
        ("=5", "line 1: “=5” is not token=bias"),
        ("late=", "a bias goes from -100 to 100, not nothing"),
        ("late=much", "not “much”"),
        ("late=100.5", "not “100.5”"),
        ("late=-101", "not “-101”"),
        ("late=nan", "not “nan”"),
        ("late=inf", "not “inf”"),
    ],
)
def test_a_line_that_cannot_be_read_is_told_with_its_number_and_how_to_write_it(text, says):
    with pytest.raises(SettingsError, match="Logit bias") as caught:
        read_biases(text)
    assert says in caught.value.text
    assert "token=bias" in caught.value.hint
    with pytest.raises(SettingsError, match="Logit bias"):
        build(Sampling, {"logit_bias": text})


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=60))
def test_any_text_is_either_read_or_refused(text):
    try:
        biases = read_biases(text)
    except SettingsError:
        return
    assert all(-100 <= bias.value <= 100 for bias in biases)
    assert BY_NAME["logit_bias"].check(text) == text
