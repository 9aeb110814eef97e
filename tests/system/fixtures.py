"""Options and fixtures of the tests that use a cluster."""

import os
import shutil

import pytest

from cluster import ROOT, Cluster


def pytest_addoption(parser):
    parser.addoption("--rounds", type=int, default=None, help="how often each failure is made (3; 20 with --full)")
    parser.addoption("--full", action="store_true", help="20 rounds, and what takes long")
    parser.addoption("--storm", type=int, default=None, help="seconds that test_group_storm.py rages (15; 600 with --full)")


def pytest_configure(config):
    config.addinivalue_line("markers", "full: takes long, so it runs only with --full")


def pytest_collection_modifyitems(config, items):
    if not config.getoption("--full"):
        items[:] = [item for item in items if not item.get_closest_marker("full")]


@pytest.fixture
def rounds(request):
    chosen = request.config.getoption("--rounds")
    return chosen or (20 if request.config.getoption("--full") else 3)


@pytest.hookimpl(tryfirst=True, hookwrapper=True)
def pytest_runtest_makereport(item):
    outcome = yield
    if outcome.get_result().failed:
        item.session.klamm_failed = True


def new_directory(name):
    directory = os.path.join(os.environ.get("KLAMM_TEST_DIR", os.path.join(ROOT, "build/system")), name)
    shutil.rmtree(directory, ignore_errors=True)
    os.makedirs(directory)
    return directory


def finish(request, cluster):
    """Ends the cluster; its files are kept when a test failed."""
    keep = getattr(request.session, "klamm_failed", False)
    cluster.down(*([] if keep else ["--wipe"]))


@pytest.fixture(scope="module")
def module_cluster(request):
    """Three brokers for all tests of a file."""
    cluster = Cluster(new_directory(request.module.__name__), sets=getattr(request.module, "SETS", ()))
    try:
        cluster.up()
        yield cluster
    finally:
        finish(request, cluster)


@pytest.fixture
def cluster(module_cluster):
    """The file's cluster, whole at the start of each test."""
    module_cluster.heal()
    return module_cluster
