// SPDX-License-Identifier: BSD-2-Clause
// A call of each method of the daemon, in an order in which one finds what it needs: [method, arguments] or
// [method, (answers) => arguments], where answers[method] is what that method answered. A third element is the time in
// seconds to wait before: until the lease of the simulation has run out, or the job has ended.
const q = [0.1, 0.2];
const rows = { query: { model: "two_link" }, q: [0, 0, 0.1, 0.2, 0.3, 0.1] };
const description = `<robot name="r"><link name="a"/><link name="b"><inertial><mass value="1"/><inertia ixx="1" iyy="1"
  izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="j" type="continuous"><parent link="a"/>
  <child link="b"/><axis xyz="0 0 1"/></joint></robot>`;
const closed = {
  name: "closed",
  links: [{ name: "a" }, { name: "b", inertia: { mass: 1, rotational: [1, 0, 0, 1, 0, 1] } }],
  joints: [{ name: "j", type: "JOINT_TYPE_CONTINUOUS", parent_link: "a", child_link: "b", axis: { z: 1 } }],
  constraints: [{ name: "stop", coupling: { coordinates: [{ joint: "j", coefficient: 1 }] } }],
};
const driven = {
  ...closed, name: "driven", constraints: [],
  machine_elements: [{ name: "m", joint: "j", motor: { resistance: 0.5, torque_constant: 0.05 } }],
};
/* Motion of the two joints over `count` rows, with torques. */
const wave = (count) => {
  const rows = Array.from({ length: count }, (_, i) => 0.1 * i);
  return { time: rows, q: rows.flatMap((t) => [Math.sin(2 * t), Math.cos(3 * t)]),
    tau: rows.flatMap((t) => [Math.cos(t), Math.sin(t)]) };
};
const simulation = (answers) => ({ simulation: "called", token: answers.create_simulation.token });

export const calls = [
  ["get_health", { component: "" }],
  ["check_health", {}],
  ["get_server_info", {}],
  ["get_metrics", {}],
  ["set_log_level", { level: "LOG_LEVEL_INFO" }],
  ["get_settings", {}],
  ["list_connections", {}],
  ["list_slow_requests", { count: 3 }],
  ["load_model", { urdf: description, name: "called" }],
  ["list_models", {}],
  ["describe_model", { model: "called" }],
  ["derive_model", { model: "two_link", operations: [{ lock: { joints: ["joint2"] } }], name: "called_derived" }],
  ["export_model", { model: "called", format: "MODEL_FORMAT_DESCRIPTION" }],
  ["unload_model", { model: "called_derived" }],
  ["compute_inertia", { parts: [{ sphere: { radius: 0.1 }, mass: 2 }] }],
  ["compute_configurations",
    { query: { model: "two_link" }, neutral: { samples: 1 } }],
  ["find_base_parameters", { query: { model: "two_link" } }],
  ["identify", { query: { model: "two_link" }, ...wave(20) }],
  ["excite", { query: { model: "two_link" }, period: 2, trials: 20 }],
  ["load_model", { name: "driven", description: driven }],
  ["evaluate_motors", { query: { model: "driven" }, q: [0.1], v: [1], a: [2] }],
  ["inverse_dynamics", { query: { model: "two_link" }, q }],
  ["forward_dynamics", { query: { model: "two_link" }, q }],
  ["mass_matrix", { query: { model: "two_link" }, q }],
  ["gravity", { query: { model: "two_link" }, q }],
  ["bias_forces", { query: { model: "two_link" }, q }],
  ["evaluate", { query: { model: "two_link" }, q, quantities: [
    { quantity: "QUANTITY_MASS_MATRIX" }, { quantity: "QUANTITY_KINETIC_ENERGY" }] }],
  ["explain", { query: { model: "two_link" }, q }],
  ["formulate", { query: { model: "two_link", formulation: "kane" }, q }],
  ["compare", { query: { model: "two_link" }, q }],
  ["load_model", { description: closed }],
  ["assemble", { query: { model: "closed" }, q: [0.1] }],
  ["kinematics", { query: { model: "two_link" }, q, frames: ["link2"], reference_frame: "REFERENCE_FRAME_WORLD" }],
  ["rollout", { query: { model: "two_link" }, q, steps: 3 }],
  ["inverse_dynamics_trajectory", { ...rows, time: [0, 0.1, 0.2] }],
  ["forward_dynamics_trajectory", { query: { model: "two_link" }, q, v: [0, 0], tau: [0, 0, 0, 0],
    stepping: { step_length: 0.01 } }],
  ["derive_rates", { ...rows, time: [0, 0.1, 0.2], rates: "RATES_SPLINE" }],
  ["cancel", { client: 1, id: 1 }],
  ["create_simulation",
    { name: "called", query: { model: "two_link" }, q, pace: "PACE_CLOCK", is_paused: true, lease: 2, keep: true }],
  ["list_simulations", {}],
  ["watch_simulation", { simulation: "called" }],
  ["record_simulation", (answers) => ({ ...simulation(answers), recording: "called" })],
  ["step_simulation", (answers) => ({ ...simulation(answers), steps: 2 })],
  ["stop_recording", simulation],
  ["set_simulation_input", (answers) => ({ ...simulation(answers), input: { tau: [1, 2] } })],
  ["get_simulation_state", { simulation: "called" }],
  ["set_simulation_state", (answers) => ({ ...simulation(answers), q, v: [0, 0] })],
  ["resume_simulation", simulation],
  ["pause_simulation", simulation],
  ["reset_simulation", simulation],
  ["save_simulations", {}],
  ["delete_simulation", simulation],
  ["restore_simulations", {}],
  ["claim_simulation", { simulation: "called" }, 2.5],
  ["replay_simulation", { recording: "called" }],
  ["list_recordings", {}],
  ["fetch_recording", { recording: "called", bytes: 16 }],
  ["delete_recording", { recording: "called" }],
  ["open_stream", { name: "called", query: { model: "two_link" }, feedforward: {} }],
  ["list_streams", {}],
  ["get_stream", { stream: "called" }],
  ["get_stream_points", { stream: "called" }],
  ["watch_stream", { stream: "called" }],
  ["close_stream", (answers) => ({ stream: "called", key: answers.open_stream.key })],
  ["start_job", { job: "called", gravity: { query: { model: "two_link" }, q } }],
  ["list_jobs", {}],
  ["get_job", { job: "called" }, 1],
  ["get_job_result", (answers) => ({ job: "called", token: answers.start_job.token })],
  ["cancel_job", (answers) => ({ job: "called", token: answers.start_job.token })],
  ["close_connection", (answers) => ({ connection: answers.list_connections.connections
    .find((each) => each.kind === "events").connection })],
];
