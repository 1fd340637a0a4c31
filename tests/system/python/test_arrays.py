# SPDX-License-Identifier: BSD-2-Clause
"""Arrays that calls take and return, and errors that name the place and the value."""
import copy
import os

import numpy as np
import pytest

import dynamicsd


def test_results_lie_in_the_callers_own_array(ur5):
    q = ur5.random(10, seed=1)
    out = np.full((10, 6), np.nan)
    assert ur5.gravity(q, out=out) is out
    np.testing.assert_array_equal(out, ur5.gravity(q))
    matrices = np.empty((10, 6, 6))
    assert ur5.mass_matrix(q, out=matrices) is matrices


@pytest.mark.parametrize("out", [np.empty((6, 10)), np.empty((10, 6), np.float32), np.empty((6, 10)).T,
                                 np.empty((10, 12))[:, ::2], [0.0]])
def test_arrays_for_results_of_another_form_are_refused(ur5, out):
    with pytest.raises(dynamicsd.InvalidArgument) as caught:
        ur5.gravity(ur5.random(10, seed=1), out=out)
    assert caught.value.field == "out"


def test_read_only_arrays_are_refused_for_results_and_taken_as_inputs(ur5):
    q = ur5.random(2, seed=1)
    q.flags.writeable = False
    with pytest.raises(dynamicsd.InvalidArgument, match="not writable"):
        ur5.gravity(q, out=q)
    assert ur5.gravity(q).shape == (2, 6)


def test_other_types_and_orders_are_converted(ur5):
    q = ur5.random(4, seed=1).round(2)
    expected = ur5.gravity(q)
    for other in (np.asfortranarray(q), q.tolist(), [tuple(row) for row in q], q.astype(">f8"),
                  np.repeat(q, 2, 0)[::2], np.ma.array(q)):
        np.testing.assert_array_equal(ur5.gravity(other), expected)
    np.testing.assert_array_equal(ur5.gravity(np.zeros((2, 6), int)), ur5.gravity(np.zeros((2, 6))))


@pytest.mark.parametrize("q, needed", [(np.zeros(5), r"\(5,\), but \(6,\) or \(n, 6\)"),
                                       (np.zeros((0, 6)), r"\(0, 6\)"), (np.zeros((2, 3, 6)), r"\(2, 3, 6\)"),
                                       (3.0, r"\(1,\)")])
def test_wrong_shapes_are_refused_with_the_one_that_is_needed(ur5, q, needed):
    with pytest.raises(dynamicsd.InvalidArgument, match=needed) as caught:
        ur5.gravity(q)
    assert caught.value.field == "q" and caught.value.code == "INVALID_ARGUMENT"
    with pytest.raises(ValueError, match=r"^v: has the shape \(6,\), but \(2, 6\) is needed"):
        ur5.inverse_dynamics(np.zeros((2, 6)), np.zeros(6))


@pytest.mark.parametrize("q", ["abc", [1j] * 6, [None] * 6, [["a"] * 6], [[0.0] * 6, [0.0] * 5], {"a": 1}])
def test_values_that_are_no_numbers_are_refused_by_name(ur5, q):
    with pytest.raises(dynamicsd.InvalidArgument) as caught:
        ur5.gravity(q)
    assert caught.value.field == "q"


@pytest.mark.parametrize("name, hint", [("mas_matrix", "did you mean 'mass_matrix'"), ("xyz", "lists all"),
                                        (3, "lists all"), (None, "lists all")])
def test_an_unknown_quantity_is_refused_with_the_nearest_name(ur5, name, hint):
    with pytest.raises(dynamicsd.InvalidArgument, match=hint) as caught:
        ur5.evaluate(["mass_matrix", name], ur5.q_home)
    assert caught.value.field == "quantities[1]"


def test_errors_of_the_daemon_have_kind_field_and_sample(client, ur5):
    q = np.zeros((3, 6))
    q[2, 1] = np.nan
    with pytest.raises(dynamicsd.InvalidArgument) as caught:
        ur5.gravity(q)
    assert caught.value.field == "gravity.q[13]" and caught.value.sample == 2
    with pytest.raises(LookupError) as missing:
        client.model("ur6")
    assert type(missing.value) is dynamicsd.NotFound and "ur5" in missing.value.message
    assert missing.value.reason == "MODEL_NOT_FOUND"
    with pytest.raises(dynamicsd.InvalidArgument, match="world") as frame:
        ur5.jacobians(np.zeros(6), "tool0", "upside_down")
    assert frame.value.field == "reference_frame"
    with pytest.raises(dynamicsd.InvalidArgument, match="'mass'"):
        ur5.evaluate(["mass"], np.zeros(6))
    with pytest.raises(TypeError, match="gravty"):
        ur5.gravity(np.zeros(6), gravty=[0, 0, 0])
    with pytest.raises(dynamicsd.InvalidArgument, match=r"payloads\[0\]"):
        ur5.gravity(np.zeros(6), payloads=[3])


def test_marked_states_are_nan_and_are_counted(ur5):
    q = np.zeros((3, 6))
    q[1, 0] = np.inf
    with pytest.warns(dynamicsd.MarkedRows, match="1 states failed"):
        found = ur5.gravity(q, on_error="mark")
    assert np.isnan(found[1]).all() and np.isfinite(found[[0, 2]]).all()


def test_tables_are_taken_by_the_names_of_their_columns(ur5):
    pandas = pytest.importorskip("pandas")
    q = ur5.random(5, seed=1)
    table = pandas.DataFrame(q, columns=ur5.joint_names)[list(reversed(ur5.joint_names))]
    table["time"] = range(5)
    np.testing.assert_array_equal(ur5.gravity(table), ur5.gravity(q))
    named = pandas.DataFrame(q, columns=[f"q.{name}" for name in ur5.joint_names])
    np.testing.assert_array_equal(ur5.gravity(named), ur5.gravity(q))
    order = list(reversed(ur5.joint_names))
    np.testing.assert_array_equal(ur5.gravity(table, joint_names=order), ur5.gravity(q)[:, ::-1])
    with pytest.raises(dynamicsd.InvalidArgument, match="elbow_joint"):
        ur5.gravity(table.drop(columns="elbow_joint"))


def test_a_row_of_a_table_is_taken_by_the_names_of_its_values(ur5):
    pandas = pytest.importorskip("pandas")
    q = ur5.random(seed=3)
    row = pandas.Series(q, index=ur5.joint_names)[list(reversed(ur5.joint_names))]
    np.testing.assert_array_equal(ur5.gravity(row), ur5.gravity(q))
    np.testing.assert_array_equal(ur5.gravity(pandas.Series(q)), ur5.gravity(q))
    with pytest.raises(dynamicsd.InvalidArgument, match="elbow_joint"):
        ur5.gravity(row.drop("elbow_joint"))


def test_rollouts_simulations_and_streams_take_tables(client, ur5):
    pandas = pytest.importorskip("pandas")
    order = list(reversed(ur5.joint_names))
    tau = np.linspace(-3, 3, 60).reshape(10, 6)
    table = pandas.DataFrame(tau, columns=ur5.joint_names)[order]
    np.testing.assert_array_equal(ur5.rollout(ur5.q_home, tau=table).q, ur5.rollout(ur5.q_home, tau=tau).q)
    q = pandas.DataFrame([ur5.q_home], columns=ur5.joint_names)[order].iloc[0]
    with client.simulate(ur5) as by_name, client.simulate(ur5) as by_place:
        for i in range(3):
            assert by_name.step(tau=table.iloc[i]).q.tolist() == by_place.step(tau=tau[i]).q.tolist()
        assert by_name.set_state(q).q.tolist() == ur5.q_home.tolist()
    with client.open_stream("feedforward", model=ur5) as stream:
        stream.push(np.arange(10) / 1000, q=pandas.DataFrame(tau, columns=ur5.joint_names)[order])
        stream.push(0.01, q=q)
        stream.watch().close()
    assert stream.info.accepted == 11


def test_results_outlive_the_reply_and_the_client(daemon):
    with dynamicsd.connect(daemon.request) as client:
        model = client.model("ur5")
        expected = model.mass_matrix(np.zeros(6))
        evaluation = model.evaluate(["mass_matrix"], np.zeros(6))
        matrix = evaluation.mass_matrix
        rows = model.rollout(np.zeros(6), steps=3).q[1:]
    del model, client
    np.testing.assert_array_equal(matrix, expected)
    copied = copy.deepcopy(evaluation)
    np.testing.assert_array_equal(copied.mass_matrix, expected)
    assert copied.results[0].blocks["value"].labels == evaluation.results[0].blocks["value"].labels
    assert copied.results[0].blocks["value"].unit(0, 0) == "kg m^2"
    assert rows.shape == (3, 6) and np.isfinite(rows).all()


def test_keys_of_an_evaluation_name_each_array(ur5):
    q = ur5.q_home
    found = ur5.evaluate(["mass_matrix", "frame_pose", "kinetic_energy"], q, frames=["tool0", "forearm_link"])
    keys = ["mass_matrix", "frame_pose.position@tool0", "frame_pose.quaternion@tool0",
            "frame_pose.position@forearm_link", "frame_pose.quaternion@forearm_link", "kinetic_energy"]
    assert list(found) == keys and len(found) == 6
    np.testing.assert_array_equal(found["frame_pose.position@tool0"], ur5.poses(q, "tool0")[0])
    np.testing.assert_array_equal(found.mass_matrix, ur5.mass_matrix(q))
    assert [(result.quantity, result.frame) for result in found.results] == [
        ("mass_matrix", ""), ("frame_pose", "tool0"), ("frame_pose", "forearm_link"), ("kinetic_energy", "")]
    for name in ("mass", "frame_pose"):
        with pytest.raises(KeyError, match="frame_pose.position@tool0"):
            found[name]
        assert not hasattr(found, name) and name not in found
    with pytest.raises(dynamicsd.InvalidArgument, match="joint_names"):
        ur5.evaluate("mass_matrix", q, joint_names=[1, 2])


def resident_bytes():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_the_memory_of_a_reply_is_freed_with_its_last_array(ur5):
    q = ur5.random(5000, seed=1)
    size = ur5.evaluate("mass_matrix", q).mass_matrix.nbytes
    before = resident_bytes()
    for _ in range(100):
        matrix = ur5.evaluate("mass_matrix", q).mass_matrix[1:]
        with pytest.raises(dynamicsd.NotFound):
            ur5.evaluate("frame_pose", q[:1], frames=["nowhere"])
    assert matrix.shape == (4999, 6, 6)
    assert resident_bytes() - before < 50 * size


def test_notebooks_show_tables(client, ur5):
    assert "shoulder_pan_joint" in ur5._repr_html_() and "ur5" in client._repr_html_()
    assert "elbow_joint" in repr(ur5.describe())
    assert "mass_matrix" in ur5.evaluate(["mass_matrix"], np.zeros(6))._repr_html_()
    assert "&lt;" not in ur5.explain(np.zeros(6))._repr_html_()
    assert "energy drift" in ur5.rollout(np.zeros((30, 6)), steps=2)._repr_html_()
    with client.simulate(ur5) as sim:
        assert "step 1" in sim.step()._repr_html_()
    assert "Ixx of" in ur5.base_parameters()._repr_html_()
    assert repr(ur5.rollout(np.zeros(6), steps=2)) == "<Rollout of 1 samples, 3 rows: 1 ran>"


def test_a_force_and_a_torque_of_different_lengths_are_refused():
    with pytest.raises(ValueError, match="a force of 3 values and a torque of 6"):
        dynamicsd.ExternalForce("tool0", force=[1, 2, 3], torque=np.zeros((2, 3)))
