# SPDX-License-Identifier: BSD-2-Clause
"""Numbers of the Python client: those of the C client, bit for bit, and those of a textbook."""
import dataclasses
import gc
import math
import os
import random
import subprocess
import weakref

import numpy as np
import pytest

import dynamicsd


def numbers_of_c(daemon, model, q, v, a):
    """Results of the C client for the same states, as one array."""
    arguments = [daemon.request, model.name, model.nq, model.nv, len(q)]
    done = subprocess.run([os.environ["C_NUMBERS"], *map(str, arguments)], check=True, stdout=subprocess.PIPE,
                          input=q.tobytes() + v.tobytes() + a.tobytes())
    return np.frombuffer(done.stdout)


@pytest.mark.parametrize("name", ["two_link", "ur5", "panda", "quadruped"])
def test_random_states_give_the_bits_of_the_c_client(daemon, client, name):
    model = client.model(name)
    generator = np.random.default_rng(7)
    for samples in (1, 2, 7, 33, 250):
        q = model.random(samples, seed=int(generator.integers(1 << 60)))
        v, a = generator.normal(size=(2, samples, model.nv))
        last = model.rollout(q, v, steps=10, only_last=True)
        found = [model.inverse_dynamics(q, v, a), model.forward_dynamics(q, v, a), model.mass_matrix(q),
                 model.gravity(q), model.bias_forces(q, v), last.q, last.v]
        found = np.concatenate([each.reshape(-1) for each in found])
        assert found.tobytes() == numbers_of_c(daemon, model, q, v, a).tobytes()


def test_the_planar_arm_moves_as_in_the_textbook(arm):
    q, v, a = np.array([0.3, -0.7]), np.array([0.5, 1.1]), np.array([-0.2, 0.9])
    c2, s2 = np.cos(q[1]), np.sin(q[1])
    mass = np.array([[3 + 2 * c2, 1 + c2], [1 + c2, 1]])
    coriolis = np.array([-s2 * (2 * v[0] * v[1] + v[1] ** 2), s2 * v[0] ** 2])
    gravity = 9.81 * np.array([2 * np.cos(q[0]) + np.cos(q.sum()), np.cos(q.sum())])
    tau = mass @ a + coriolis + gravity
    np.testing.assert_allclose(arm.mass_matrix(q), mass, rtol=1e-14)
    np.testing.assert_allclose(arm.inverse_dynamics(q, v, a), tau, rtol=1e-13)
    np.testing.assert_allclose(arm.forward_dynamics(q, v, tau), a, rtol=1e-11)
    np.testing.assert_allclose(arm.bias_forces(q, v), coriolis + gravity, rtol=1e-13)
    np.testing.assert_allclose(arm.explain(q, v, a).terms["coriolis"], coriolis, rtol=1e-12)


def test_evaluate_agrees_with_the_methods_of_one_quantity(client, ur5):
    q = ur5.random(5, seed=3)
    v = np.ones((5, 6))
    found = ur5.evaluate(["mass_matrix", "bias_forces", "frame_jacobian", "frame_pose"], q, v=v, frames=["tool0"])
    np.testing.assert_array_equal(found.mass_matrix, ur5.mass_matrix(q))
    np.testing.assert_array_equal(found["bias_forces"], ur5.bias_forces(q, v))
    linear, angular = ur5.jacobians(q, "tool0")
    np.testing.assert_array_equal(found["frame_jacobian.linear"], linear)
    np.testing.assert_array_equal(found["frame_jacobian.angular"], angular)
    np.testing.assert_array_equal(found["frame_pose.position"], ur5.poses(q, "tool0")[0])
    assert found.results[0].blocks["value"].labels == (ur5.joint_names, ur5.joint_names)
    both = ur5.evaluate(dynamicsd.Quantity("frame_pose", frames=["tool0", "base_link"]), q[0])
    assert set(both) == {f"frame_pose.{block}@{frame}" for block in ("position", "quaternion")
                         for frame in ("tool0", "base_link")}
    with pytest.raises(KeyError, match="frame_jacobian.linear"):
        found["frame_jacobian"]


def test_each_entry_of_a_quantity_has_its_unit(client, project):
    walker = client.load(project / "deploy/robots/quadruped.urdf", name="walker", base="floating")
    for name in ("mass_matrix", "torque_regressor", "christoffel_symbols"):
        block = walker.evaluate(name, walker.q_home).results[0].blocks["value"]
        flat = [block.unit(*entry) for entry in np.ndindex(block.values.shape)]
        assert len(set(flat)) > 1 and len(flat) == block.values.size
    mass = walker.evaluate("mass_matrix", walker.q_home).results[0].blocks["value"]
    assert (mass.unit(0, 0), mass.unit(0, 3), mass.unit(5, 5)) == ("kg", "kg m", "kg m^2")
    walker.unload()
    arm = client.model("two_link").evaluate("mass_matrix", [0.0, 0.0]).results[0].blocks["value"]
    assert {arm.unit(*entry) for entry in np.ndindex(2, 2)} == {"kg m^2"}


def test_names_of_other_libraries_are_the_same_functions(arm):
    q, v, a = [0.3, -0.7], [0.5, 1.1], [-0.2, 0.9]
    assert arm.rnea(q, v, a).tolist() == arm.rne(q, v, a).tolist() == arm.inverse_dynamics(q, v, a).tolist()
    assert arm.aba(q, v, a).tolist() == arm.accel(q, v, a).tolist() == arm.forward_dynamics(q, v, a).tolist()
    assert arm.crba(q).tolist() == arm.mass_matrix(q).tolist()
    assert arm.gravload(q).tolist() == arm.gravity(q).tolist()


def test_circumstances_of_a_call_apply_to_it_alone(arm):
    payload = dynamicsd.Payload("link2", dynamicsd.Inertia(mass=2.0), dynamicsd.Pose(position=(1.0, 0.0, 0.0)))
    force = dynamicsd.ExternalForce("link2", force=[0.0, 0.0, 9.81], reference_frame="local_world_aligned")
    plain = arm.inverse_dynamics([0.0, 0.0])
    assert arm.inverse_dynamics([0.0, 0.0], payloads=[payload])[1] > plain[1]
    np.testing.assert_allclose(arm.inverse_dynamics([0.0, 0.0], gravity=[0.0, 0.0, 0.0]), 0, atol=1e-15)
    pushed = arm.inverse_dynamics([[0.0, 0.0]] * 2, external_forces=[force])
    np.testing.assert_allclose(pushed, [[29.43 - 9.81, 9.81]] * 2, rtol=1e-12)
    swapped = arm.inverse_dynamics([0.5, 0.1], joint_names=["joint2", "joint1"])
    np.testing.assert_array_equal(swapped, arm.inverse_dynamics([0.1, 0.5])[::-1])
    by_book = arm.inverse_dynamics([0.1, 0.5], formulation="lagrange_euler")
    np.testing.assert_allclose(by_book, arm.inverse_dynamics([0.1, 0.5]), rtol=1e-12)
    assert arm.inverse_dynamics([0.0, 0.0]).tolist() == plain.tolist()


def drawn_call(draw, names):
    """Function that makes a call with a model: of any method, number of states, inputs and options."""
    leading = draw.choice([(), (1,), (3,)])
    q, v, a = (np.array([draw.uniform(-1, 1) for _ in range(6 * math.prod(leading))]).reshape(*leading, 6)
               for _ in range(3))
    v, a = (draw.choice([None, each, each.tolist()]) for each in (v, a))
    options = draw.choice([{}, {}, {"gravity": None}, {"on_error": "mark"}, {"payloads": []}, {"precision": "single"},
                           {"gravity": [draw.uniform(-9, 9), 0.0, -9]}, {"timeout": draw.choice([0, 5])}])
    options["joint_names"] = draw.choice([None, draw.sample(names, 6)])
    asked = draw.sample(["mass_matrix", "bias_forces", "frame_pose", "frame_jacobian"], 2)
    frames = draw.sample(["tool0", "wrist_1_link", "forearm_link"], 2)
    of_robot = draw.sample(["mass_matrix", "inverse_mass_matrix", "kinetic_energy", "coriolis_matrix"], 2)
    direction = draw.choice([{"da": q}, {"dq": q + 1}, {"dv": q}])
    return draw.choice([
        lambda model: model.inverse_dynamics(q, v, a, **options),
        lambda model: model.forward_dynamics(q, v, a, **options),
        lambda model: model.mass_matrix(q, **options),
        lambda model: model.difference(q, q + 1, **options),
        lambda model: model.inverse_dynamics(q, v[:-1] if v is not None else "wrong", **options),
        lambda model: list(model.evaluate(asked, q, v=v, frames=frames, **options).values()),
        lambda model: [getattr(model.evaluate(of_robot, q, v=q, **options), name) for name in of_robot],
        lambda model: [model.evaluate(["inverse_dynamics_along"], q, v=v, **direction).inverse_dynamics_along]])


def test_a_call_is_as_if_it_were_the_first(client, ur5):
    """Calls share memory with those before them."""
    seed = random.SystemRandom().randrange(1 << 32)
    print("seed", seed)
    draw, names = random.Random(seed), list(ur5.joint_names)
    outcomes = []
    for _ in range(400):
        call = drawn_call(draw, names)
        for model in ur5, dynamicsd.Model(client, ur5.description):
            try:
                outcomes.append([np.asarray(each).tobytes() for each in call(model)])
            except dynamicsd.DynamicsError as error:
                outcomes.append(str(error))
        assert outcomes[-1] == outcomes[-2]
    assert 0 < sum(isinstance(each, str) for each in outcomes) < len(outcomes) / 2


def test_arguments_may_change_between_calls(ur5):
    q, gravity = np.linspace(0.1, 0.6, 6), [0.0, 0.0, -1.0]
    frames, names = ["tool0", "base_link"], list(ur5.joint_names)
    forces = ur5.gravity(q, gravity=gravity, joint_names=names)
    poses = ur5.evaluate("frame_pose", q, frames=frames).results
    gravity[2] = -2.0
    names.reverse()
    frames.reverse()
    np.testing.assert_allclose(ur5.gravity(q[::-1], gravity=gravity, joint_names=names), 2 * forces[::-1], rtol=1e-12)
    reversed_poses = ur5.evaluate("frame_pose", q, frames=frames).results
    assert [each.frame for each in reversed_poses] == [each.frame for each in poses][::-1]


def test_a_model_goes_with_its_last_reference(client):
    model = client.model("ur5")
    model.gravity(model.q_home)
    model.evaluate("mass_matrix", model.q_home)
    found = weakref.ref(model)
    gc.disable()
    del model
    gc.enable()
    assert found() is None


def test_a_constrained_tip_accelerates_as_demanded(ur5):
    q, v = ur5.random(1, seed=5)[0], [0.5, 0.4, -0.6, 0.2, 0.3, 1.0]
    tip = dynamicsd.TipConstraint("tool0", linear=(0.0, 0.6, 0.8), acceleration=1.5)
    a = ur5.forward_dynamics(q, v, formulation="vereshchagin", tip_constraints=[tip])
    found = ur5.evaluate(["frame_acceleration"], q, v=v, a=a, frames=["tool0"], reference_frame="local_world_aligned")
    assert float(np.dot(found["frame_acceleration.linear"].ravel(), tip.linear)) == pytest.approx(1.5, abs=1e-9)


def test_a_link_bends_as_a_clamped_beam(arm):
    link = dynamicsd.FlexibleLink("link1", end=(1.0, 0.0, 0.0), mass=1.0, direction=(0.0, 0.0, 1.0), rigidity=50.0)
    found = arm.formulate("book_flexible", [0.0, 0.3], flexible_links=[link], mode_q=[1e-3, 0.0], gravity=[0, 0, 0])
    assert found.blocks["M"].values.shape == (4, 4)
    assert found.blocks["tau_modes"].values[0] == pytest.approx(1.875104 ** 4 * 50.0 * 1e-3, rel=1e-6)
    rigid = arm.formulate("book_flexible", [0.0, 0.3], [1.0, 2.0], [3.0, 4.0], flexible_links=[link])
    np.testing.assert_allclose(rigid.tau, arm.inverse_dynamics([0.0, 0.3], [1.0, 2.0], [3.0, 4.0]), rtol=1e-12)
    np.testing.assert_allclose(rigid.blocks["M"].values[:2, :2], arm.mass_matrix([0.0, 0.3]), rtol=1e-12)
    assert "a" not in rigid.blocks
    moved = arm.formulate("book_flexible", [0.0, 0.3], [1.0, 2.0], flexible_links=[link], tau=rigid.tau,
                          mode_tau=rigid.blocks["tau_modes"].values)
    np.testing.assert_allclose(moved.blocks["a"].values, [3.0, 4.0, 0.0, 0.0], atol=1e-9)
    with pytest.raises(ValueError, match="tau needs flexible_links"):
        arm.formulate("kane", [0.0, 0.3], tau=[1.0, 2.0])


def test_blocks_of_a_formulation_have_units_axes_and_states(arm):
    q, v = np.array([[0.1, 0.5], [0.3, -0.4], [1.0, 2.0]]), np.array([[1.0, 2.0], [0.0, 1.0], [-1.0, 0.5]])
    found = arm.formulate("lagrange_euler", q, v)
    np.testing.assert_allclose(found.tau, arm.inverse_dynamics(q, v), rtol=1e-12, atol=1e-12)
    block = found.blocks["D"]
    assert (block.unit, block.axes, block.values.shape) == ("kg m^2, kg m, kg", ("coordinate",) * 2, (3, 2, 2))
    assert block.equation.startswith("2.11: D_ik")
    np.testing.assert_allclose(block.values, arm.mass_matrix(q), rtol=1e-12)
    assert arm.formulate("newton_euler", q[0], v[0]).blocks["w"].frame == "axes of the link"
    link = dynamicsd.FlexibleLink("link1", end=(1.0, 0.0, 0.0), mass=1.0, direction=(0.0, 0.0, 1.0), rigidity=50.0)
    bent = {"flexible_links": [link], "mode_q": [[1e-3, 0.0], [0.0, 0.0], [2e-3, 1e-4]]}
    several = arm.formulate("book_flexible", q, v, **bent)
    for i in range(3):
        one = arm.formulate("book_flexible", q[i], v[i], flexible_links=[link], mode_q=bent["mode_q"][i])
        np.testing.assert_allclose(several.tau[i], one.tau, rtol=1e-12)
        for name, each in one.blocks.items():
            np.testing.assert_allclose(several.blocks[name].values[i], each.values, rtol=1e-12, atol=1e-15)


def test_a_description_loads_to_a_model_of_the_same_digest(client, ur5, tmp_path):
    for source in (ur5.export(), ur5.export("urdf")):
        copy = client.load(source, name="copy_of_ur5", base="fixed", gravity=[0, 0, -9.81], replace=True)
        q = ur5.random(4, seed=2)
        np.testing.assert_allclose(copy.gravity(q), ur5.gravity(q), rtol=1e-12, atol=1e-12)
    file = tmp_path / "copy.urdf"
    file.write_text(ur5.export("urdf"), encoding="utf-8")
    assert client.load(file, name="copy_of_ur5", replace=True).nv == 6
    copy.unload()
    again = client.load(ur5.export(), name="again", base="fixed")
    assert again.digest == ur5.digest
    again.unload()
    chain = ur5.export("screws")
    serial = client.load(dynamicsd.ScrewChain("serial", chain.n, chain.Mlist, chain.Glist, chain.Slist))
    assert serial.nv == 6
    serial.unload()
    table = dynamicsd.DHTable("pendulum", [dynamicsd.DHRow(a=1.0, inertia=dynamicsd.Inertia(mass=1.0))])
    pendulum = client.load(table)
    assert pendulum.mass_matrix([0.0]).tolist() == [[1.0]]
    pendulum.unload()


def test_losses_of_gears_count_in_both_directions_of_the_dynamics(client, project):
    model = client.load(project / "tests/data/machine_elements/driven_arm.json", name="driven in python")
    counted = dynamicsd.PassiveForces(damping=True, friction=True, gear_losses=True)
    q, v, a = [0.3, 0.8], [1.0, -2.0], [2.0, -3.0]
    tau = model.inverse_dynamics(q, v, a, passive_forces=counted)
    np.testing.assert_allclose(model.forward_dynamics(q, v, tau, passive_forces=counted), a, atol=1e-10)
    found = model.explain(q, v, a, passive_forces=counted)
    assert found.counted_passive_forces.gear_losses
    lossless = model.inverse_dynamics(q, v, a, passive_forces=dataclasses.replace(counted, gear_losses=False))
    np.testing.assert_allclose(found.terms["gear_loss"], tau - lossless, atol=1e-12)
    assert all(abs(found.terms["gear_loss"]) > 0.01)
    model.unload()


def test_gears_lose_a_part_of_the_load_of_shafts(client, project):
    model = client.load(project / "tests/data/machine_elements/geared_wrist.json", name="wrist in python")
    counted = dynamicsd.PassiveForces(damping=True, friction=True, gear_losses=True)
    q, v, a = [0.2, 0.6], [1.0, -0.4], [2.0, 3.0]
    tau = model.inverse_dynamics(q, v, a, passive_forces=counted)
    np.testing.assert_allclose(model.forward_dynamics(q, v, tau, passive_forces=counted), a, atol=1e-8)
    gear = model.description.machine_elements[2]
    assert (gear.joint, gear.kind, gear.gear.efficiency) == ("left", "gear", 0.8)
    model.unload()


def test_calls_leave_out_rotors(client, project):
    geared = client.load(project / "tests/data/machine_elements/geared_arm.json", name="rotors in python")
    kept = dataclasses.replace(geared.export(), machine_elements=[])
    bare = client.load(kept, name="no rotors in python")
    assert (geared.mass_matrix([0.1, 0.9], without_rotors=True) == bare.mass_matrix([0.1, 0.9])).all()
    assert abs(geared.mass_matrix([0.1, 0.9])[1, 1] - bare.mass_matrix([0.1, 0.9])[1, 1] - 12.5) < 1e-12
    with pytest.raises(dynamicsd.InvalidArgument, match="without_rotors"):
        geared.poses([0.1, 0.9], "lower", without_rotors=True)
    geared.unload(), bare.unload()


def test_descriptions_in_python_have_machine_elements(client, project):
    geared = client.load(project / "tests/data/machine_elements/geared_arm.json", name="geared")
    rotor = geared.description.machine_elements[0]
    housings = geared.evaluate("housing_wrenches", [[0.0, 0.0]], a=[[1.0, 2.0]])
    assert housings.results[0].blocks["torque"].labels[0] == ("shoulder rotor", "elbow rotor")
    assert abs(housings["housing_wrenches.torque"][0, 1, 2] + 0.00125 * (1 + 100 * 2.0)) < 1e-14
    assert (rotor.name, rotor.kind, rotor.rotor.ratio) == ("shoulder rotor", "rotor", 100)
    exported = geared.export()
    assert [each.joint for each in exported.machine_elements] == ["shoulder", "elbow"]
    again = client.load(exported, name="again")
    assert again.digest == geared.digest and again.info.machine_elements == 2
    spring = dynamicsd.MachineElement("coil", "elbow", "spring", spring=dynamicsd.Spring(stiffness=3.0, rest=0.5))
    sprung = client.load(dataclasses.replace(exported, machine_elements=[spring]), name="sprung")
    tau = sprung.inverse_dynamics([0.1, 0.9], passive_forces=dynamicsd.PassiveForces(springs=True))
    np.testing.assert_allclose(tau - sprung.inverse_dynamics([0.1, 0.9]), [0, 3.0 * 0.4], atol=1e-12)
    counted = dynamicsd.PassiveForces(springs=True, damping=True)
    found = sprung.evaluate(["inverse_dynamics", "passive_forces"], [0.1, 0.9], passive_forces=counted)
    np.testing.assert_allclose(found.inverse_dynamics, tau, atol=1e-12)
    assert found["passive_forces.springs"].shape == (2,)
    assert sprung.evaluate("mass_matrix", [0, 0]).counted_passive_forces is None
    terms = sprung.explain([0.1, 0.9], passive_forces=counted)
    assert sprung.explain([0.1, 0.9]).counted_passive_forces is None
    assert sprung.explain([0.1, 0.9]).agreement is None
    for marked in (found.counted_passive_forces, terms.counted_passive_forces):
        assert (marked.springs, marked.damping, marked.friction) == (True, True, False)
    with pytest.raises(dynamicsd.InvalidArgument, match="elbw") as caught:
        client.load(dataclasses.replace(exported, machine_elements=[dataclasses.replace(rotor, joint="elbw")]))
    assert caught.value.field == "load_model.description.machine_elements[0].joint"
    for model in (geared, again, sprung):
        model.unload()


def test_bases_move(client):
    """A lift that accelerates upwards adds to gravity; a turntable adds centrifugal forces."""
    arm = client.model("ur5")
    q = [0.3, -1.2, 1.4, -0.8, -1.5, 0.4]
    lift = dynamicsd.BaseMotion(linear_velocity=[0, 0, 2], linear_acceleration=[0, 0, 1.19])
    np.testing.assert_allclose(arm.inverse_dynamics(q, base_motion=lift), arm.gravity(q, gravity=[0, 0, -11]),
                               atol=1e-10)
    turning = dynamicsd.BaseMotion(angular_velocity=[[0, 0, 0], [0, 0, 2]])
    tau = arm.inverse_dynamics([q, q], base_motion=turning)
    np.testing.assert_allclose(tau[0], arm.gravity(q), atol=1e-12)
    # The first joint of the robot is vertical: the same motion by the joint has the same forces at the others.
    np.testing.assert_allclose(tau[1][1:], arm.inverse_dynamics(q, [2, 0, 0, 0, 0, 0])[1:], atol=1e-10)
    with pytest.raises(ValueError, match="3 values, or n x 3"):
        dynamicsd.BaseMotion(linear_velocity=[1, 2])


def test_rollouts_and_simulations_move_with_their_base(client):
    arm = client.model("ur5")
    q = [0.3, -1.2, 1.4, -0.8, -1.5, 0.4]
    lift = dynamicsd.BaseMotion(linear_acceleration=[0, 0, 1.19])
    lifted = arm.rollout(q, steps=20, only_last=True, base_motion=lift)
    heavy = arm.rollout(q, steps=20, only_last=True, gravity=[0, 0, -11])
    np.testing.assert_allclose(lifted.q, heavy.q, atol=1e-12)
    rows = np.zeros((20, 3))
    rows[:, 2] = 1.19
    of_steps = arm.rollout(q, steps=20, only_last=True, base_motion=dynamicsd.BaseMotion(linear_acceleration=rows))
    np.testing.assert_array_equal(of_steps.q, lifted.q)
    with client.simulate("ur5", q=q) as simulation:
        assert simulation.state().base_motion is None
        np.testing.assert_allclose(simulation.step(20, base_motion=lift).q, heavy.q.ravel(), atol=1e-12)
        np.testing.assert_array_equal(simulation.state().base_motion.linear_acceleration, [0, 0, 1.19])


def test_descriptions_in_python_have_contact_surfaces(client, project):
    shapes = client.load(project / "tests/data/contacts/every_shape.json", name="shapes")
    surfaces = shapes.description.contact_surfaces
    assert [each.shape for each in surfaces[:4]] == ["plane", "point", "sphere", "box"]
    assert client.load(shapes.export(), name="again").digest == shapes.digest
    floor = dynamicsd.ContactSurface("floor", "plane", friction=0.5)
    ball = dynamicsd.ContactSurface("ball", "sphere", link="body", radius=0.1, friction=0.5)
    inertia = dynamicsd.Inertia(mass=2.0, rotational=(0.01, 0.0, 0.0, 0.01, 0.0, 0.01))
    robot = dynamicsd.ModelDescription("ball", [dynamicsd.Link("body", inertia)], base="floating",
                                       contact_surfaces=[floor, ball])
    model = client.load(robot)
    poses = [[0, 0, 0.1, 0, 0, 0, 1], [0, 0, 9, 0, 0, 0, 1]]
    rest = model.rollout(poses, steps=500, only_last=True, with_contacts=True)
    assert rest.contact_forces.shape == (2, 1, 2, 3)
    np.testing.assert_allclose(rest.contact_forces[:, 0, 1, 2], [2 * 9.81, 0], atol=1e-9)
    np.testing.assert_allclose(rest.contact_gaps[0, 0, 1], 0, atol=1e-9)
    assert rest.contact_gaps[1, 0, 1] > 7 and rest.outcomes[0].contact_residual < 1e-9
    assert model.rollout([[0, 0, 1, 0, 0, 0, 1]], steps=1).contact_forces is None
    soft = dynamicsd.Stepping(contact_law="soft")
    assert -1e-2 < model.rollout(poses[:1], steps=2000, only_last=True, with_contacts=True,
                                 stepping=soft).contact_gaps[0, 0, 1] < -1e-4
    held = model.evaluate(["contact_forces", "contact_normals", "contact_gaps"], poses, contact_step=0.01)
    np.testing.assert_allclose(held.contact_forces[:, 1, 2], [2 * 9.81, 0], atol=1e-9)
    np.testing.assert_allclose(held.contact_normals[0], [[0, 0, -1], [0, 0, 1]])
    assert model.evaluate("mass_matrix", poses[0]).mass_matrix.shape == (6, 6)
    soft = dataclasses.replace(ball, soft=dynamicsd.SoftContact(time_constant=0.05))
    cushion = client.load(dataclasses.replace(robot, name="cushion", contact_surfaces=[floor, soft]))
    assert cushion.description.contact_surfaces[1].soft.impedance == 0.95
    rest = cushion.rollout(poses, steps=2000, only_last=True, with_contacts=True)
    np.testing.assert_allclose(rest.contact_forces[0, 0, 1, 2], 2 * 9.81, atol=1e-6)
    assert -1e-2 < rest.contact_gaps[0, 0, 1] < -1e-3
    with pytest.raises(dynamicsd.InvalidArgument, match="friction") as caught:
        client.load(dataclasses.replace(robot, contact_surfaces=[dataclasses.replace(floor, friction=-1.0)]))
    assert caught.value.field == "load_model.description.contact_surfaces[0].friction"
    for name in ("shapes", "again", "ball", "cushion"):
        client.model(name).unload()


def test_shafts_couple_the_joints_that_turn_them(client):
    """The motors of a differential on the base reflect G' diag(I) G."""
    def arm(name, child, parent):
        return dynamicsd.Joint(name, "continuous", parent, child, axis=[0, 0, 1])
    part = dynamicsd.Inertia(1.0, rotational=(0.1, 0, 0, 0.1, 0, 0.1))
    links = [dynamicsd.Link("base"), dynamicsd.Link("upper", part), dynamicsd.Link("lower", part)]
    joints = [arm("first", "upper", "base"), arm("second", "lower", "upper")]
    rows, inertias = np.array([[30.0, 30.0], [-20.0, 20.0]]), np.array([0.002, 0.005])
    shafts = [dynamicsd.MachineElement(f"motor{i}", "", "shaft", rotor=dynamicsd.Rotor(axial_inertia=inertias[i]),
                                       motor=dynamicsd.Motor(resistance=0.5, torque_constant=0.05),
                                       shaft=dynamicsd.Shaft(["first", "second"], rows[i], True)) for i in range(2)]
    model = client.load(dynamicsd.ModelDescription("differential", links, joints, machine_elements=shafts))
    shown = model.description.machine_elements[1].shaft
    assert tuple(shown.joints) == ("first", "second")
    np.testing.assert_array_equal(shown.ratios, rows[1])
    expected = np.array([[0.2, 0.1], [0.1, 0.1]]) + rows.T @ np.diag(inertias) @ rows
    np.testing.assert_allclose(model.mass_matrix([[0.3, -0.4]])[0], expected, rtol=1e-12)
    tau = np.array([[6.0, -2.0]])
    motors = model.evaluate_motors([[0.3, -0.4]], tau=tau)
    np.testing.assert_allclose(motors.torque @ rows, tau, rtol=1e-12)
    model.unload()


def test_custom_joints_move_by_functions(client, project):
    """A bead on the parabola y = x^2 / 2 has M = 1 + q^2 and tau = M a + q v^2 + g q; a file holds a leg."""
    motions = (dynamicsd.JointMotion("translation", [1, 0, 0], coefficients=[0, 1]),
               dynamicsd.JointMotion("translation", [0, 0, 1], coefficients=[0, 0, 0.5]))
    links = [dynamicsd.Link("wire"), dynamicsd.Link("bead", dynamicsd.Inertia(1.0))]
    joint = dynamicsd.Joint("along", "custom", "wire", "bead", motions=motions)
    model = client.load(dynamicsd.ModelDescription("parabola", links, [joint]))
    shown = model.description.joints[0].motions
    assert [motion.kind for motion in shown] == ["translation", "translation"]
    np.testing.assert_array_equal(shown[1].coefficients, [0, 0, 0.5])
    q, v, a = 0.7, -1.3, 2.1
    np.testing.assert_allclose(model.mass_matrix([[q]])[0, 0, 0], 1 + q * q, rtol=1e-13)
    tau = model.inverse_dynamics([[q]], [[v]], [[a]])
    np.testing.assert_allclose(tau[0, 0], (1 + q * q) * a + q * v * v + 9.81 * q, rtol=1e-13)
    model.unload()
    spline = dynamicsd.JointMotion("rotation", [0, 0, 1], knots=[0, 1, 2], values=[0, 1])
    bad = dynamicsd.Joint("along", "custom", "wire", "bead", motions=(spline,))
    with pytest.raises(dynamicsd.InvalidArgument, match="2 values for 3 knots"):
        client.load(dynamicsd.ModelDescription("bad", links, [bad]))
    leg = client.load(project / "tests/data/custom/leg.json")
    state, a = ([[0.3, -0.9, 0.2]], [[1, -2, 0.5]]), [[3, 1, -2]]
    np.testing.assert_allclose(leg.forward_dynamics(*state, leg.inverse_dynamics(*state, a)), a, rtol=1e-9)
    assert len(leg.description.joints[1].motions[0].knots) == 12
    leg.unload()


def test_forces_on_links_and_brakes_act_in_rollouts(client):
    """A ball hangs on a cable with buoyancy; a brake holds another one."""
    ball = dynamicsd.Link("ball", dynamicsd.Inertia(2.0, rotational=(0.1, 0, 0, 0.1, 0, 0.1)))
    rail = dynamicsd.Joint("rail", "prismatic", "base", "ball", axis=[0, 0, 1])
    cable = dynamicsd.Strut(other_position=(0, 0, 1), stiffness=800.0, rest=1.2, damping=40.0)
    water = dynamicsd.Fluid(density=1000.0, volume=1e-3)
    motor = dynamicsd.Motor(resistance=0.5, torque_constant=0.05)
    model = client.load(dynamicsd.ModelDescription("hung", [dynamicsd.Link("base"), ball], [rail], machine_elements=[
        dynamicsd.MachineElement("cable", "", "cable", link="ball", strut=cable),
        dynamicsd.MachineElement("water", "", "fluid", link="ball", fluid=water),
        dynamicsd.MachineElement("motor", "rail", "motor", motor=motor),
        dynamicsd.MachineElement("brake", "rail", "brake", brake=dynamicsd.Brake(30.0))]))
    assert model.description.machine_elements[0].strut.stiffness == 800.0
    hung = model.rollout([[0.0]], steps=3000, only_last=True)
    np.testing.assert_allclose(hung.q[0, -1, 0], -0.2 - 9.81 / 800, atol=1e-6)
    held = model.rollout([[0.0]], steps=100, only_last=True, stepping=dynamicsd.Stepping(brakes=["brake"]))
    assert abs(held.q[0, -1, 0]) < 1e-3
    model.unload()


def test_a_flexible_beam_swings_at_its_frequency(client):
    """A cantilever of one mode swings as a cosine of 3.516 sqrt(E I / (rho A L^4)) for one period."""
    weld = dynamicsd.Joint("weld", "fixed", "wall", "end", origin=dynamicsd.Pose((0.8, 0, 0)))
    beam = dynamicsd.FlexibleBeam(direction=(0, 1, 0), mass_per_length=0.6, rigidity=3.2, modes=1)
    model = client.load(dynamicsd.ModelDescription("strip", [dynamicsd.Link("wall"), dynamicsd.Link("end")], [weld],
                                                   machine_elements=[dynamicsd.MachineElement(
                                                       "strip", "weld", "flexible_beam", flexible_beam=beam)]))
    assert [each.name for each in model.description.machine_elements] == ["strip:mode1"]
    period = 2 * np.pi / (3.5160152685 / 0.64 * np.sqrt(3.2 / 0.6))
    stepping = dynamicsd.Stepping(step_length=period / 400, integrator="rk4")
    swung = model.rollout([[0.01]], steps=400, stride=200, stepping=stepping)
    np.testing.assert_allclose(swung.q[0, :, 0], [0.01, -0.01, 0.01], atol=1e-7)
    model.unload()


def test_descriptions_in_python_have_passive_joints(client, project):
    loop = client.load(project / "tests/data/constraints/four_bar.json", name="loop")
    exported = loop.export()
    passive = [name for name in loop.joint_names if name != "motor"]
    driven = client.load(dataclasses.replace(exported, passive_joints=passive), name="driven")
    assert sorted(driven.export().passive_joints) == sorted(passive)
    q = driven.assemble([[1.0, 0.0, 1.0]], held_joints=["motor"]).q
    tau = driven.inverse_dynamics(q)[0]
    assert tau[driven.joint_names.index("motor")] != 0
    agreement = driven.explain(q[0]).agreement
    assert agreement is not None and agreement.rank == 2 and agreement.residual < 1e-9
    assert [tau[driven.joint_names.index(name)] for name in passive] == [0.0] * len(passive)
    loop.unload()
    driven.unload()


def test_a_rollout_takes_each_layout_of_its_input(arm):
    q, v = arm.random(3, seed=1), np.zeros((3, 2))
    tau = np.array([1.0, -2.0])
    constant = arm.rollout(q, v, tau, steps=20, with_tau=True, with_energy=True)
    assert constant.q.shape == (3, 21, 2) and constant.time.shape == (21,)
    assert constant.tau.shape == (3, 21, 2) and constant.kinetic.shape == (3, 21)
    for again in (arm.rollout(q, v, np.tile(tau, (20, 1))), arm.rollout(q, v, np.tile(tau, (3, 20, 1))),
                  arm.rollout(q, v, np.tile(tau, (3, 1)), steps=20, tau_layout="constant")):
        np.testing.assert_array_equal(again.q, constant.q)
    single = arm.rollout(q[0], v[0], np.tile(tau, (20, 1)))
    np.testing.assert_array_equal(single.q, constant.q[0])
    held = arm.rollout([0.1, 0.2], steps=500, q_ref=[0.1, 0.2], only_last=True,
                       stepping=dynamicsd.Stepping(law="pd_gravity", kp=100.0, kd=20.0))
    np.testing.assert_allclose(held.q[-1], [0.1, 0.2], atol=1e-9)
    with pytest.raises(dynamicsd.InvalidArgument, match="steps"):
        arm.rollout(q)


def test_trajectories_report_the_limits_that_they_exceed(ur5):
    time = np.linspace(0, 1, 50)
    q = np.outer(np.sin(4 * time), np.ones(6))
    slow = ur5.inverse_dynamics_trajectory(q * 0.01, time=time, rates="spline")
    assert slow.is_feasible and slow.v.shape == (50, 6)
    fast = ur5.inverse_dynamics_trajectory(q, time=time, rates="quintic_spline")
    assert not fast.is_feasible and {each.kind for each in fast.excesses} >= {"velocity"}
    rates = ur5.derive_rates(q, time, "quintic_spline")
    np.testing.assert_array_equal(rates.v, fast.v)
    np.testing.assert_array_equal(rates.a, fast.a)
    motion = ur5.forward_dynamics_trajectory(q[0], None, np.tile(ur5.gravity(q[0]), (10, 1)))
    np.testing.assert_allclose(motion.q, np.tile(q[0], (10, 1)), atol=1e-8)
