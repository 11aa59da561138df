"""Commands that may do no more than their user, also where the tests run as root."""

import os
import shutil

import pytest


def bound_by_permissions():
    """Return what to put before a command so that permissions bind it: root loses the right to pass them over."""
    if os.geteuid() != 0:
        return []
    if shutil.which("setpriv") is None:
        pytest.skip("root may read and write everywhere, and there is no setpriv to take that away")
    return ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]
