# SPDX-License-Identifier: BSD-2-Clause
"""Fixtures of pytest for tests and examples in documentation: a daemon of the run, and clients of it."""
import os
import pathlib
import time

import numpy
import pytest

import dynamicsd
from daemon import Daemon


@pytest.fixture(scope="session")
def daemon():
    """Daemon with the sample robots, on a unix socket and on tcp."""
    started = Daemon()
    os.environ["DYNAMICSD_ENDPOINT"] = started.request
    yield started
    started.stop()


@pytest.fixture(scope="session")
def client(daemon):
    """Client that all tests share."""
    with dynamicsd.connect(daemon.request, timeout=60) as connected:
        yield connected


@pytest.fixture(scope="session")
def ur5(client):
    """Arm with six joints."""
    return client.model("ur5")


@pytest.fixture(scope="session")
def arm(client):
    """Planar arm with two links, whose equation of motion is in textbooks."""
    return client.model("two_link")


@pytest.fixture(scope="session")
def project():
    """Directory of the project."""
    return pathlib.Path(os.environ["PROJECT"])


@pytest.fixture(autouse=True)
def names_of_examples(request):
    """Names that examples in documentation use."""
    if isinstance(request.node, pytest.DoctestItem):
        names = request.getfixturevalue("doctest_namespace")
        names.update(dynamicsd=dynamicsd, np=numpy, time=time, client=request.getfixturevalue("client"),
                     Operation=dynamicsd.Operation, InertiaPart=dynamicsd.InertiaPart)
