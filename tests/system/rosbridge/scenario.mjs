// SPDX-License-Identifier: BSD-2-Clause
// Calls of a user of roslib to the gateway. Runs unchanged in Node and in a browser, also with releases of roslib
// before 2. Throws an error if a result is wrong.

import { calls } from "./services.mjs";

function check(holds, what) {
  if (!holds) throw new Error(what);
}

/// An answer within a time; roslib itself has no timer.
function within(seconds, what, start) {
  return new Promise((resolve, reject) => {
    setTimeout(() => reject(new Error(`${what}: no answer within ${seconds} s`)), 1000 * seconds);
    start(resolve, (error) => reject(new Error(`${what}: ${error?.message ?? error}`)));
  });
}

const pause = (seconds) => new Promise((resolve) => setTimeout(resolve, 1000 * seconds));

/// An action to its end, and one that is cancelled. roslib 1 has none.
async function act(ROSLIB, ros, q) {
  const action = new ROSLIB.Action({ ros, name: "/dynamics/rollout", actionType: "dynamics_msgs/Rollout" });
  const start = { query: { model: "two_link" }, q, steps: 10, only_last: true };
  const result = await within(30, "rollout", (done, failed) => action.sendGoal(start, done, () => {}, failed));
  check(result.q.length === 2 && result.q[0] !== q[0], `the rollout ends at ${result.q}`);
  let fraction = 0;
  const long = { query: { model: "panda" }, q: Array(7 * 50).fill(0.1), steps: 200000, only_last: true };
  const cancelled = await within(60, "cancel", (done, failed) => {
    const id = action.sendGoal(long, () => failed("it was not cancelled"), (feedback) => {
      fraction = feedback.fraction;
      if (fraction > 0) action.cancelGoal(id);
    }, done);
  });
  check(/CANCELLED/.test(cancelled) && fraction > 0 && fraction < 1, `cancelled at ${fraction}: ${cancelled}`);
}

export async function run(ROSLIB, url, tell) {
  const ros = new ROSLIB.Ros({});
  await within(20, "connect", (done, failed) => {
    ros.on("connection", done);
    ros.on("error", failed);
    ros.connect(url);
  });
  tell("connected");
  const call = (name, args) =>
    within(30, name, (done, failed) =>
      new ROSLIB.Service({ ros, name, serviceType: "" }).callService(args, done, failed));
  const refusal = (name, args) =>
    within(30, name, (done, failed) =>
      new ROSLIB.Service({ ros, name, serviceType: "" })
        .callService(args, () => failed("it was not refused"), done));

  // Lists of services, topics and types.
  const services = await within(20, "services", (done, failed) => ros.getServices(done, failed));
  const methods = services.filter((name) => name.startsWith("/dynamics/"));
  check(methods.length > 30, `only ${methods.length} methods`);
  const topics = await within(20, "topics", (done, failed) => ros.getTopics(done, failed));
  check(topics.topics.includes("/diagnostics"), "no /diagnostics among the topics");
  const type = await within(20, "type", (done, failed) => ros.getServiceType("/dynamics/gravity", done, failed));
  check(type === "dynamics_msgs/srv/Gravity", `the type of gravity is ${type}`);
  const topicType = await within(20, "type", (done, failed) => ros.getTopicType("/diagnostics", done, failed));
  check(topicType === "diagnostic_msgs/msg/DiagnosticArray", `the type of /diagnostics is ${topicType}`);
  const nodes = await within(20, "nodes", (done, failed) => ros.getNodes(done, failed));
  check(nodes.includes("/dynamicsd"), "no node /dynamicsd");
  const details = await within(20, "details", (done, failed) =>
    ros.getMessageDetails("sensor_msgs/JointState", done, failed));
  check(ros.decodeTypeDefs(details).position[0] === "float64", "JointState has no positions");
  const actions = await within(20, "actions", (done, failed) => ros.getActionServers(done, failed));
  check(actions.includes("/dynamics/rollout"), "no action /dynamics/rollout");
  tell(`found ${methods.length} methods`);

  // Every service answers, with a result; without arguments with a result or a reason that names one.
  const answers = {};
  for (const [method, args, delay] of calls) {
    if (delay) await pause(delay);
    const given = typeof args === "function" ? args(answers) : args;
    answers[method] = await call(`/dynamics/${method}`, given);
  }
  const called = new Set(calls.map(([method]) => `/dynamics/${method}`));
  check(methods.every((each) => called.has(each)) && called.size === methods.length,
    `services and calls differ: ${methods.filter((each) => !called.has(each))}`);
  for (const name of methods) {
    await within(30, name, (done) =>
      new ROSLIB.Service({ ros, name, serviceType: "" }).callService({}, done, (reason) => {
        check(/^args\.\w+/.test(reason), `without arguments ${name} is refused with: ${reason}`);
        done();
      }));
  }
  for (const name of services.filter((each) => each.startsWith("/rosapi/"))) {
    const args = { topic: "/diagnostics", service: "/dynamics/gravity", type: "std_srvs/Trigger", node: "/dynamicsd",
      name: "rosdistro" };
    await call(name, args);
  }
  tell("called every service");

  // Numbers, however they are given. Two links of published masses hold still at 27.07 and 9.37 N m or so.
  const q = [0.1, 0.2];
  const plain = await call("/dynamics/gravity", { query: { model: "two_link" }, q });
  const typed = await call("/dynamics/gravity", { query: { model: "two_link" }, q: new Float64Array(q) });
  const state = { header: {}, name: ["joint2", "joint1"], position: [0.2, 0.1], velocity: [], effort: [] };
  const swapped = await call("/dynamics/gravity", { query: { model: "two_link" }, joint_state: state });
  check(plain.g.length === 2 && plain.g.every((tau, i) => tau === typed.g[i] && tau === swapped.g[1 - i]),
    "the same state gives other numbers in another form");
  const reason = await refusal("/dynamics/gravity", { query: { model: "two_link" }, q: [0.1, NaN] });
  check(reason === "args.q[1]: null is not a number", `NaN is refused with: ${reason}`);
  tell("compared numbers");

  // A live simulation at throttled rates, in each encoding.
  const name = `roslib_${Math.floor(1e9 * Math.random())}`;
  const made = await call("/dynamics/create_simulation", { name, query: { model: "two_link" }, pace: "PACE_CLOCK", q });
  for (const compression of ["none", "png", "cbor"]) {
    const topic = new ROSLIB.Topic({
      ros, name: `/dynamics/simulations/${name}/joint_states`, messageType: "sensor_msgs/JointState",
      throttle_rate: 100, queue_length: 1, compression,
    });
    const messages = [];
    const began = Date.now();
    await within(20, compression, (done) => topic.subscribe((message) => {
      messages.push(message);
      if (messages.length === 8) done();
    }));
    topic.unsubscribe();
    const took = (Date.now() - began) / 1000;
    check(took > 0.6, `8 messages of at most 10 a second came within ${took} s`);
    check(messages.every((each) => each.position.length === 2 && each.name[0] === "joint1"), "no joint states");
    const times = messages.map((each) => each.header.stamp.secs + 1e-9 * each.header.stamp.nsecs);
    check(times.every((time, i) => i === 0 || time > times[i - 1]), `simulated times ${times}`);
  }
  await call("/dynamics/delete_simulation", { simulation: name, token: made.token });
  tell("watched a simulation");

  if ("Action" in ROSLIB) {
    await act(ROSLIB, ros, q);
    tell("ran and cancelled actions");
  }

  // Topics and services of clients.
  const echo = new ROSLIB.Topic({ ros, name: `/${name}/echo`, messageType: "std_msgs/String" });
  const heard = within(20, "echo", (done) => echo.subscribe(done));
  await pause(0.1);
  echo.publish({ data: "hello" });
  check((await heard).data === "hello", "the message came back changed");
  echo.unsubscribe();
  echo.unadvertise();
  const sum = new ROSLIB.Service({ ros, name: `/${name}/add`, serviceType: "example/Add" });
  sum.advertise((request, response) => {
    response.sum = request.a + request.b;
    return true;
  });
  await pause(0.3);
  check((await call(`/${name}/add`, { a: 1, b: 2 })).sum === 3, "1 + 2 is not 3");
  sum.unadvertise();
  tell("used topics and services of clients");
  ros.close();
}
