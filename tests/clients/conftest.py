"""The cluster and the fixtures are those of tests/system."""

import os
import sys

import pytest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "system"))
from fixtures import *  # noqa: E402, F401, F403


@pytest.fixture
def is_full(request):
    return request.config.getoption("--full")
