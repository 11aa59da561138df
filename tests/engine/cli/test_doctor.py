"""`flint doctor`: what is, what works, what does not."""

from tests.models.tiny import tiny_llama


def checks(outcome):
    return {check["name"]: check for check in outcome.data["checks"]}


def test_a_healthy_machine_has_no_problem(flint, models):
    outcome = flint("doctor", "--json")
    found = checks(outcome)
    assert (outcome.status, outcome.err) == (0, "")
    assert {
        "System",
        "Packages",
        "Chip",
        "Memory",
        "GPU",
        "Flint's own files",
        "Data folder",
        "Settings",
        "Chats",
        "Models",
    } <= set(found)
    assert {check["state"] for check in found.values()} <= {"ok", "note"}
    assert all(check["detail"] for check in found.values())
    assert "mlx " in found["Packages"]["detail"]


def test_it_can_be_read(flint, models):
    out = flint("doctor").out
    assert "✓ System: " in out
    assert "✗" not in out


def test_a_broken_model_is_noted_with_where_it_is(flint, models):
    found = checks(flint("doctor", "--json"))
    (broken,) = (check for check in found.values() if str(models / "broken") in check["hint"])
    assert broken["state"] == "note"
    assert broken["detail"]


def test_damaged_chats_are_a_problem_and_the_rest_is_still_told(flint, flint_home):
    tiny_llama(flint_home / "models" / "late")
    (flint_home / "chats.sqlite3").write_bytes(b"garbage" * 999)
    outcome = flint("doctor", "--json")
    problems = [check for check in checks(outcome).values() if check["state"] == "problem"]
    assert outcome.status == 1
    assert len(problems) == 1
    assert problems[0]["hint"]
    assert "late" in checks(outcome)["Models"]["detail"].lower()


def test_broken_settings_are_noted(flint, flint_home):
    flint_home.mkdir()
    (flint_home / "settings.json").write_text("no")
    found = checks(flint("doctor", "--json"))
    assert found["Settings"]["state"] == "note"
    assert "damaged" in found["Settings"]["detail"]


def test_changed_settings_are_named(flint, flint_home):
    from engine.core.paths import locate
    from engine.core.preferences import Preferences

    Preferences(locate().settings).set("temperature", 0.0)
    assert "temperature" in checks(flint("doctor", "--json"))["Settings"]["detail"]


def test_a_check_that_falls_ill_itself_is_told(flint, monkeypatch):
    monkeypatch.setattr("engine.cli.doctor.read_device", lambda: 1 / 0)
    outcome = flint("doctor", "--json")
    assert outcome.status == 1
    assert "ZeroDivisionError" in checks(outcome)["Doctor"]["detail"]
    assert "Models" in checks(outcome)
