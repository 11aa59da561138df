"""The README's words against the tree: a stranger follows them to the letter."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_it_names_the_two_commands():
    assert "pip install uv && uv run flint\n" in README
    assert "uv run pytest" in README
    assert "brew install uv" in README


def test_every_file_it_links_to_is_there():
    links = re.findall(r"\]\((?!https?://)([^)#]+)\)", README)
    assert links
    assert [link for link in links if not (ROOT / link).is_file()] == []


def test_everything_in_its_tree_exists_and_every_part_is_in_it():
    tree = re.search(r"```\n(app/ .*?)```", README, re.DOTALL)[1]
    top, named = "", set()
    for line in tree.splitlines():
        name = line.split()[0]
        top = top if line.startswith("  ") else name
        named.add((top if line.startswith("  ") else "") + name)
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []
    parts = {f"{half}/{path.parent.name}/" for half in ("app", "engine") for path in (ROOT / half).glob("*/__init__.py")}
    assert parts <= named


def test_its_debian_packages_are_those_that_ci_installs():
    ci = set(re.search(r"packages=\((.*?)\)", (ROOT / ".ci/run").read_text(encoding="utf-8"), re.DOTALL)[1].split())
    readme = set(re.search(r"apt install (.*?)```", README, re.DOTALL)[1].replace("\\", " ").split())
    assert readme == ci - {"xvfb", "xauth"}
