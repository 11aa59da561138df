"""A panel in a window."""

import pytest

from app.settings.panel import SettingsPanel


@pytest.fixture
def panel(theme, qtbot):
    """A shown panel with a chat open that sets nothing itself."""
    panel = SettingsPanel(theme)
    qtbot.addWidget(panel)
    panel.resize(320, 760)
    panel.show_values({}, {})
    panel.show()
    panel.activateWindow()
    qtbot.waitActive(panel)
    return panel
