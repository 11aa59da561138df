"""The models that Flint recommends before anybody searched: data, shown without asking the network."""

import json
import tomllib

from engine.core.hub_facts import HubModel
from engine.core.paths import resource
from engine.core.record import Record
from engine.models.facts import read_facts
from engine.models.hub_facts import CHAT_TAG, TEXT_TASK, tasks_of

_FILE = "recommended.toml"


class Recommended(Record):
    """A model and what it is good for, in a few words."""

    model: HubModel
    good_for: str


def read_recommended() -> tuple[Recommended, ...]:
    """Return the recommended models, the largest first."""
    entries = tomllib.loads(resource(_FILE).read_text(encoding="utf-8"))["model"]
    return tuple(sorted((_entry(entry) for entry in entries), key=lambda one: -one.model.size_bytes))


def _entry(entry: dict[str, object]) -> Recommended:
    model_id, config = str(entry["id"]), entry["config"]
    facts = read_facts(config)  # type: ignore[arg-type]
    model = HubModel(
        id=model_id,
        name=str(entry["name"]),
        author=model_id.partition("/")[0],
        mlx=True,
        size_bytes=int(str(entry["weights_bytes"])),
        parameters=int(str(entry["parameters"])),
        quantization=facts.quantization,
        architecture=facts.model_type,
        context=facts.context,
        licence=str(entry["licence"]),
        task=TEXT_TASK,
        tasks=tasks_of(TEXT_TASK, (CHAT_TAG,), model_id),
        config=json.dumps(config),
    )
    return Recommended(model, str(entry["good_for"]))
