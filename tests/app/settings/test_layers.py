"""Which value is in force, and where it comes from."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.settings.layers import SCOPES, Layers
from engine.core.settings import SETTINGS

NAMES = ("temperature", "top_k", "seed", "stop")
ORDER = ("chat", "model", "app", "recommended")


@pytest.mark.parametrize(
    ("layers", "scope", "expected"),
    [
        (Layers(), "app", (0.7, "default")),
        (Layers(chat={}), "chat", (0.7, "app default")),
        (Layers(recommended={"temperature": 0.6}), "app", (0.6, "model default")),
        (Layers(recommended={"temperature": 0.6}, chat={}, model={}), "chat", (0.6, "model default")),
        (Layers(app={"temperature": 1.0}, recommended={"temperature": 0.6}, model={}), "model", (1.0, "app default")),
        (Layers(app={"temperature": 1.0}, model={"temperature": 1.2}, chat={}), "chat", (1.2, "this model")),
        (Layers(app={"temperature": 1.0}, model={"temperature": 1.2}, chat={"temperature": 0.1}), "chat", (1.2, "this model")),
        (Layers(app={"temperature": 1.0}), "app", (0.7, "default")),
    ],
)
def test_what_stands_where_nothing_is_set_and_where_it_comes_from(layers, scope, expected):
    assert layers.inherited("temperature", scope) == expected


values = st.dictionaries(st.sampled_from(NAMES), st.integers(0, 3), max_size=4)


@given(chat=values, model=values, app=values, recommended=values, wanted=values, scope=st.sampled_from(SCOPES))
def test_the_nearest_one_that_is_set_is_in_force(chat, model, app, recommended, wanted, scope):
    layers = Layers(app=app, model=model, chat=chat, recommended=recommended)
    held = {"chat": chat, "model": model, "app": app, "recommended": recommended}
    seen = ORDER[ORDER.index(scope) :]
    defaults = {setting.name: setting.default for setting in SETTINGS}
    for name in NAMES:
        expected = next((held[layer][name] for layer in seen if name in held[layer]), defaults[name])
        assert layers.value(name, scope) == layers.values(scope)[name] == expected
        assert layers.is_set(name, scope) == (name in held[scope])
    before = dict(held[scope])
    changed = layers.with_values(wanted, scope)
    assert held[scope] == before, "nothing is changed by asking"
    held[scope].clear()
    held[scope].update(changed)
    for name in NAMES:
        if name in wanted:
            assert layers.value(name, scope) == wanted[name]
            assert layers.is_set(name, scope) == (layers.inherited(name, scope)[0] != wanted[name])
        else:
            assert (name in changed) == (name in before)
