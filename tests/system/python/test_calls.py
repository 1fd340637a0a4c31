# SPDX-License-Identifier: BSD-2-Clause
"""Calls from many threads and tasks, calls that end early, and connections that end."""
import asyncio
import os
import sys
import threading
import time

import numpy as np
import pytest

import dynamicsd
from dynamicsd import aio

# Rollout of minutes.
LONG = {"steps": 60_000, "only_last": True, "timeout": 300}


def test_threads_share_a_client_and_get_their_own_numbers(ur5):
    q = ur5.random(200, seed=5)
    expected, matrices, failures = ur5.gravity(q), ur5.mass_matrix(q), []

    def work(first):
        for i in range(first, 200, 8):
            rows = slice(i, i + first % 3 + 1)  # Threads whose arrays differ in their shapes share idle memory.
            found = ur5.evaluate(["mass_matrix"], q[rows])
            if not (np.array_equal(ur5.gravity(q[i]), expected[i])
                    and np.array_equal(found.mass_matrix, matrices[rows])):
                failures.append(i)

    threads = [threading.Thread(target=work, args=(first,)) for first in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


@pytest.mark.parametrize("call", [lambda ur5, **options: ur5.rollout(np.zeros((1000, 6)), **LONG, **options),
                                  lambda ur5, **options: ur5.excite(trials=100_000, timeout=300, **options)])
def test_a_call_leaves_the_interpreter_to_other_threads(client, ur5, call):
    """Counts for half a second beside a call of minutes."""
    counted, is_over = 0, threading.Event()

    def compute():
        with pytest.raises(dynamicsd.Cancelled):
            call(ur5, progress=lambda fraction: not is_over.is_set())

    thread = threading.Thread(target=compute)
    thread.start()
    end = time.monotonic() + 0.5
    while time.monotonic() < end:
        counted += 1
    is_over.set()
    thread.join()
    assert counted > 1000


def test_the_interpreter_goes_on_while_c_waits_for_a_reply(ur5):
    """Looks at the clock until a call without callbacks ends. A call that held the lock would have no looks inside."""
    spans, looks = [], []

    def compute():
        begin = time.monotonic()
        ur5.rollout(np.zeros((200, 6)), steps=5000, only_last=True, timeout=60)
        spans.append((begin, time.monotonic()))

    thread = threading.Thread(target=compute)
    thread.start()
    while thread.is_alive():
        looks.append(time.monotonic())
    thread.join()
    (begin, end), = spans
    quarter = (end - begin) / 4
    assert any(begin + quarter < look < end - quarter for look in looks)


def test_progress_is_reported_and_cancels(ur5):
    seen = []

    def note(fraction):
        seen.append(fraction)
        return len(seen) < 4

    with pytest.raises(dynamicsd.Cancelled):
        ur5.rollout(np.zeros((1000, 6)), **LONG, progress=note)
    assert len(seen) == 4 and seen == sorted(seen) and seen[0] == 0 and seen[-1] < 1


def test_an_exception_in_the_callback_ends_the_call(ur5):
    def fail(fraction):
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        ur5.rollout(np.zeros((1000, 6)), **LONG, progress=fail)


@pytest.mark.parametrize("has_tqdm", [True, False])
def test_a_bar_shows_the_progress(ur5, capfd, monkeypatch, has_tqdm):
    if has_tqdm:
        pytest.importorskip("tqdm")
    else:
        monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    ur5.rollout(np.zeros((5, 6)), steps=2, progress=True)
    shown = capfd.readouterr().err
    assert ("  0%" if has_tqdm else "  0 %") in shown


def test_steps_of_a_simulation_end_at_the_wish_of_the_callback(client, arm):
    fractions = []

    def stop(fraction):
        fractions.append(fraction)
        return fraction == 0

    with client.simulate(arm) as sim:
        state = sim.step(10_000_000, timeout=300, progress=stop)
        assert state.ended_by == "cancelled" and 0 < state.steps_done < 10_000_000
        assert 0 < fractions[-1] < 1 and sim.state().step == state.steps_done
        assert sim.step(3, progress=lambda fraction: True).ended_by == "steps"


def test_watched_states_are_those_of_the_simulation_until_its_end(client):
    with client.simulate("two_link", name="arm", q=[0.3, 0.2], publish_rate=1000.0) as sim:
        states = client.watch("arm")
        assert repr(states) == "<StateWatcher of 'arm'>"
        last = sim.step(50)
        seen = []
        for state in states:
            seen.append(state)
            if state.step == last.step:
                break
        np.testing.assert_array_equal(state.q, last.q)
        np.testing.assert_array_equal(state.v, last.v)
        assert state.tau.shape == (2,) and state.time == last.time and isinstance(state.step, int)
        assert [each.step for each in seen] == list(range(seen[0].step, 51))
        assert seen[0].update.states[0].q.shape == (2,)
    assert all(state.step == 50 for state in states)  # It ends with the simulation.
    states.close()
    assert list(states) == [] and "closed" in repr(states)


def test_the_rate_counts_simulated_seconds_a_second(client):
    begin = time.monotonic()
    with client.simulate("two_link", rate=1000) as sim:
        found = sim.state()
        while found.time < 1.0:  # s, which take a millisecond
            time.sleep(0.01)
            found = sim.state()
        assert found.time <= 1000 * (time.monotonic() - begin)
        assert found.rate == 1000 and found.pace == "clock" and found.time == pytest.approx(0.001 * found.step)


def test_a_pause_begins_with_its_result_and_is_not_made_up_for(client):
    with client.simulate("two_link", rate=1.0) as sim:
        while sim.state().step < 3:
            time.sleep(0.01)
        paused = sim.pause()
        time.sleep(0.3)
        assert sim.state().step == paused.step and sim.step(2).step == paused.step + 2
        begin = time.monotonic()
        sim.resume()
        while (found := sim.state()).step < paused.step + 5:
            time.sleep(0.01)
        assert found.time - paused.time <= time.monotonic() - begin + 0.002 + 0.001


def test_a_job_goes_on_after_its_call(client, arm):
    q, options = np.zeros((2000, 2)), {"steps": 2000, "only_last": True}
    for timeout in (0.2, 2, 20):  # A busy machine needs more than the first for the job to begin.
        ticket, found = dynamicsd.JobTicket(), None
        try:
            found = arm.rollout(q, **options, job=ticket, timeout=timeout)
        except TimeoutError:
            pass
        if found is not None or ticket.token != 0:
            break
    if found is None:
        assert client.job(ticket.name).method == "rollout"
        found = arm.rollout(q, **options, job=ticket, timeout=120)
    assert ticket.token == 0 and len(found.outcomes) == 2000
    np.testing.assert_array_equal(found.q, arm.rollout(q, **options, timeout=120).q)


def test_close_ends_the_calls_of_other_threads(daemon):
    client = dynamicsd.connect(daemon.request)
    model = client.model("ur5")
    ended = []

    def work():
        try:
            model.rollout(np.zeros((1000, 6)), steps=6000, only_last=True, timeout=300)
        except dynamicsd.DynamicsError as error:
            ended.append(type(error))

    thread = threading.Thread(target=work)
    thread.start()
    time.sleep(0.3)
    client.close()
    thread.join(30)
    assert ended == [dynamicsd.Cancelled]
    with pytest.raises(dynamicsd.Unavailable, match="closed"):
        model.gravity(np.zeros(6))
    client.close()


def test_a_forked_process_is_told_to_connect_elsewhere(client, ur5):
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            ur5.gravity(np.zeros(6))
        except dynamicsd.Unavailable as error:
            os.write(writer, error.message.encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as told:
        assert "forked" in told.read()
    os.waitpid(child, 0)
    assert ur5.gravity(np.zeros(6)).shape == (6,)


def test_nothing_listening_is_a_connection_error(tmp_path):
    with pytest.raises(ConnectionError) as caught:
        dynamicsd.connect(f"ipc://{tmp_path}/none.sock", connect_timeout=0.5)
    assert caught.value.code == "UNREACHABLE"
    with pytest.raises(dynamicsd.InvalidArgument):
        dynamicsd.connect("nonsense")


def test_tasks_compute_in_parallel_and_are_cancelled(daemon):
    async def work():
        async with aio.connect(daemon.request, timeout=60) as client:
            model = await client.model("ur5")
            q = await model.random(20, seed=1)
            found = await asyncio.gather(*(model.gravity(row) for row in q))
            np.testing.assert_array_equal(found, await model.gravity(q))
            with pytest.raises(dynamicsd.InvalidArgument):
                await model.gravity(q[:, 1:])
            task = asyncio.create_task(model.rollout(np.zeros((1000, 6)), **LONG))
            await asyncio.sleep(0.3)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            begin = time.monotonic()
            await model.rollout(np.zeros((300, 6)), steps=3, timeout=60)
            assert time.monotonic() - begin < 20

    asyncio.run(work())


def test_tasks_run_simulations_and_streams(daemon):
    async def work():
        async with aio.connect(daemon.request, timeout=60) as client:
            async with await client.simulate("two_link", q=[0.0, 0.0]) as sim:
                async with await sim.watch() as states:
                    assert (await sim.step(20)).step == 20
                    async for state in states:
                        assert state.q.shape == (2,)
                        break
                    await sim.step(20)
                    async for update in states.updates():
                        assert update.kind == "states" and update.q.shape[1] == 2
                        break
            assert await client.simulations() == ()
            async with await client.open_stream("feedforward", model="two_link") as stream:
                await stream.push([0.0], q=[[0.0, 0.0]])
            stiff = await (await client.model("two_link")).derive(
                "stiff_task", dynamicsd.Operation("lock_joints", joints=["joint2"]))
            assert stiff.blocking.nv == 1
            await stiff.unload()

    asyncio.run(work())


def test_every_call_of_the_blocking_classes_has_a_coroutine():
    other = {"loaded", "abort", "coordinate_names"}
    for blocking, wrapper in ((dynamicsd.Client, aio.Client), (dynamicsd.Model, aio.Model),
                              (dynamicsd.Simulation, aio.Simulation), (dynamicsd.Stream, aio.Stream)):
        calls = {name for name, value in vars(blocking).items() if callable(value) and not name.startswith("_")}
        assert calls - other - set(dir(wrapper)) == set()


def test_a_token_is_sent_and_names_the_caller(daemon, tmp_path, monkeypatch):
    with dynamicsd.connect(daemon.request) as own:
        assert own.server_info().caller == f"uid:{os.geteuid()}"
        assert own.server_info().caller_role == "administrator"
    with dynamicsd.connect(daemon.request, token="nobody-has-this-one") as denied:
        with pytest.raises(dynamicsd.PermissionDenied, match="no such token") as raised:
            denied.ping()
        assert raised.value.reason == "UNKNOWN_TOKEN"
    file = tmp_path / "token"
    file.write_text("nobody-has-this-one\n")
    monkeypatch.setenv("DYNAMICSD_TOKEN_FILE", str(file))
    assert dynamicsd.default_token() == "nobody-has-this-one"
    with dynamicsd.connect(daemon.request) as denied, pytest.raises(dynamicsd.PermissionDenied):
        denied.ping()
