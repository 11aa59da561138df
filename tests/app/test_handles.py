"""Every handle of the window is driven by a test: those that tests name in their `drives` marks against those there are."""

import ast
from fnmatch import fnmatchcase
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

TESTS = Path(__file__).parent
APP = Path(__file__).parents[2] / "app"

# No input is meant for these: they show something, or are a name that whoever uses the part replaces with its own.
SHOWN = [
    "cardNote",
    "contextGauge",
    "contextMarker",
    "diskFree",
    "diskUse",
    "downloadState",
    "downloadSummary",
    "factsPopover",
    "failureNote",
    "fetchNotice",
    "fitBar",
    "fitCard",
    "fitMost",
    "fitNeeds",
    "fitRate",
    "fitRefusal",
    "fitSum",
    "gaugeCard",
    "guardCard",
    "helpText.*",
    "hubModelName",
    "hubVerdict",
    "kvNeeds",
    "last.*",
    "loadProgress",
    "memoryGauge",
    "modelName",
    "modelProblem",
    "nextTokenCount",
    "nextTokenNothing",
    "nextTokenWhere",
    "none.*",
    "note.*",
    "nothingFound",
    "prefillProgress",
    "presetInForce",
    "presetProblem",
    "problem.*",
    "searchProblem",
    "searchState",
    "searchText",
    "searchTitle",
    "sparkline",
    "speedGauge",
    "spinner",
    "tokenProblem",
    "tokenState",
    "variantsBasis",
    "variantsNote",
    "welcomeProgress",
]
# These only hold others, whose names are driven.
HOLDING = [
    "discover",
    "download.*",
    "downloadList",
    "modelNotes",
    "modelOwnNotes",
    "modelTemplate",
    "removeModelQuestion",
    "repositoryDetail",
    "tokenDialog",
    "variants",
]
# Named where a part is made: a path that can only be read and copied.
MADE = ["modelFolder"]
REPLACED = ["button.*", "check.*", "field.*", "link.*", "segmented.*"]
# Actions of menus, which are no widgets; the menu bar is a Mac's.
ACTIONS = ["menu.*", "menuBar", "preset.*", "selectAll", "selectMessage"]

# What gives names, by the place of the name among its arguments; one that names several parts has their ends.
GIVEN = {
    "setObjectName": (0,),
    "add_button": (1,),
    "ask_to_remove": (1, "Question", "Confirm", "Cancel"),
    "ask_for_file": (1,),
    "ask_for_files": (1,),
    "ask_for_folder": (1,),
    "ask_where_to_save": (1,),
}


def driven():
    """The names that tests mark, with `*` for an id."""
    names = set()
    for path in TESTS.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.drives":
                names |= {argument.value for argument in node.args if isinstance(argument, ast.Constant)}
    return names


def named(tree):
    """The names that a file's code gives to widgets, each f-string's fields as `*`."""
    for node in ast.walk(tree):
        called = ast.unparse(node.func).rpartition(".")[2] if isinstance(node, ast.Call) else ""
        place, *ends = GIVEN.get(called, (0,))
        if called in GIVEN and len(node.args) > place:
            name = pattern(node.args[place])
            if name and name != "*":
                yield from (name + end for end in ends or [""])


def pattern(node):
    """The text of a constant or of an f-string; nothing for what is only known when it runs."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(part.value if isinstance(part, ast.Constant) else "*" for part in node.values)
    return ""


def handles():
    """Every name in the app's code, with the file that gives it."""
    return {name: path for path in APP.rglob("*.py") for name in named(ast.parse(path.read_text("utf-8")))}


def meets(name, patterns):
    """Whether a name, or a pattern of names, is one of those."""
    return any(fnmatchcase(name, one) or fnmatchcase(one, name) for one in patterns)


def test_every_handle_is_driven_by_a_test():
    marks, names = driven(), handles()
    assert len(marks) > 200
    assert len(names) > 200
    idle = [name for name in sorted(names) if not meets(name, [*marks, *SHOWN, *HOLDING, *REPLACED, *ACTIONS])]
    assert not idle, f"no test says that it drives {idle}: mark one with @pytest.mark.drives"


def test_what_needs_no_input_is_still_there():
    names = handles()
    assert [name for name in (*SHOWN, *HOLDING, *REPLACED, *ACTIONS) if not meets(name, names)] == []


def test_every_control_on_screen_is_driven_by_a_test(flint):
    """Some names are given where a part is made, so that only the window knows them."""
    flint.ask("Hello")
    flint.click("settingsButton")
    flint.window.commands.find("findInChat").trigger()
    flint.window.place.show()
    flint.window.commands.find("commandPalette").trigger()
    marks = driven()
    controls = [
        widget.objectName()
        for widget in flint.window.findChildren(QWidget)
        if widget.objectName() and widget.focusPolicy() != Qt.FocusPolicy.NoFocus and not widget.objectName().startswith("qt_")
    ]
    assert len(controls) > 60
    idle = sorted({name for name in controls if not meets(name, [*marks, *SHOWN, *HOLDING, *MADE, *ACTIONS])})
    assert not idle, f"no test says that it drives {idle}: mark one with @pytest.mark.drives"
