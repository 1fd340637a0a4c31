// SPDX-License-Identifier: BSD-2-Clause
// A robot in the browser: sliders move its joints, bars show the torques that hold it still.
import * as ROSLIB from "roslib";

const parameters = new URLSearchParams(location.search);
const url = `ws://localhost:${parameters.get("port") ?? 9090}`;
const RETRY = 2000; // ms between attempts to connect
const LEVELS = ["serving", "degraded", "not serving", "unknown"]; // of diagnostic_msgs/DiagnosticStatus

const ros = new ROSLIB.Ros({});
const element = (id) => document.getElementById(id);
let robot = null; // {name, q, rows, description}
let isAsking = false, isStale = false; // a request is in progress; the state has changed since

/* ---- the gateway ------------------------------------------------------------------------------------------------- */

/** Calls a method of the daemon. Returns a promise of the reply, which fails with the daemon's reason. */
function call(method, type, args = {}) {
  const service = new ROSLIB.Service({ ros, name: `/dynamics/${method}`, serviceType: `dynamics_msgs/${type}` });
  return new Promise((resolve, reject) => service.callService(args, resolve, (reason) => reject(new Error(reason))));
}

/** A number with a true minus sign, and none before a zero. */
function format(number, digits) {
  const text = number.toFixed(digits);
  return Number(text) === 0 ? (0).toFixed(digits) : text.replace("-", "\u2212");
}

function notice(text) {
  element("notice").textContent = text;
  element("notice").hidden = text === "";
}

function showHealth(level, text, details = "") {
  element("health").dataset.level = level;
  element("health").textContent = text;
  element("health").title = details;
}

ros.on("connection", async () => {
  element("robot").inert = false;
  notice("");
  try {
    await listModels();
  } catch (error) {
    notice(error.message);
  }
});
ros.on("error", () => {}); // "close" follows
ros.on("close", () => {
  element("robot").inert = true;
  showHealth(3, "no gateway");
  notice(`There is no gateway at ${url}. Start dynamics-rosbridge; this page connects by itself.`);
  setTimeout(() => ros.connect(url), RETRY);
});

new ROSLIB.Topic({ ros, name: "/diagnostics", messageType: "diagnostic_msgs/DiagnosticArray" }).subscribe((health) => {
  const level = Math.max(...health.status.map((each) => each.level));
  const details = health.status.map((each) => `${each.name}: ${each.message}`);
  showHealth(level, LEVELS[level] ?? LEVELS[3], details.join("\n"));
});

/* ---- the robot --------------------------------------------------------------------------------------------------- */

async function listModels() {
  const { models } = await call("list_models", "ListModels");
  const names = models.map((each) => each.name);
  const wanted = [robot?.name, parameters.get("model")].find((name) => names.includes(name)) ?? names[0];
  element("model").replaceChildren(...names.map((name) => new Option(name, name, false, name === wanted)));
  element("model").disabled = names.length === 0;
  if (wanted === undefined) {
    notice("The daemon has no robots. Load one: dynamicsctl load FILE.urdf");
  } else if (wanted !== robot?.name) {
    await show(wanted);
  } else {
    await ask();
  }
}

/** Shows another robot in its home configuration. */
async function show(name) {
  const description = await call("describe_model", "DescribeModel", { model: name });
  robot = { name, description, q: [...description.home_q] };
  robot.rows = description.joints.flatMap((joint) => createRows(joint, description));
  const { model } = description;
  element("name").textContent = name;
  element("facts").textContent = `${model.joints} joints, ${model.links} links, ${model.mass.toPrecision(4)} kg`;
  element("joints").replaceChildren(...robot.rows.map((row) => row.line));
  element("robot").hidden = false;
  await ask();
}

function create(tag, properties, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

/** Range of a slider: the limits of the joint, or a turn, or a metre to each side. */
function rangeOf(joint) {
  const limits = joint.limits;
  const reach = joint.coordinates.q_units[0] === "rad" ? Math.PI : 1;
  return limits && limits.lower < limits.upper ? [limits.lower, limits.upper] : [-reach, reach];
}

/** A row for each velocity of a joint. A joint with one coordinate has a slider; others keep their configuration. */
function createRows(joint, description) {
  const { q_index, v_index, nq, nv, q_units, tau_units } = joint.coordinates;
  return Array.from({ length: nv }, (_, i) => {
    const name = description.v_names[v_index + i];
    const row = { v: v_index + i, unit: tau_units[i], limit: nv === 1 ? joint.limits?.effort ?? 0 : 0 };
    row.fill = create("div", { className: "fill" });
    row.torque = create("output", { className: "torque" });
    row.share = create("output", { className: "share" });
    row.value = create("output", { className: "value" });
    const label = create("label", { textContent: name, title: name, htmlFor: `q${row.v}` });
    row.line = create("div", { className: "joint" }, label, create("span"), row.value,
                      create("div", { className: "bar" }, row.fill), row.torque, row.share);
    if (nq === 1) {
      const [min, max] = rangeOf(joint);
      row.slider = create("input", { type: "range", id: label.htmlFor, min, max, step: "any" });
      row.line.children[1].replaceWith(row.slider);
      row.q = q_index;
      row.qUnit = q_units[0];
      row.slider.addEventListener("input", () => {
        robot.q[q_index] = Math.round(1e3 * row.slider.value) / 1e3;
        ask();
      });
    }
    return row;
  });
}

/** Requests the torques of the present configuration. While a request is in progress, only the newest state waits. */
async function ask() {
  for (const row of robot.rows.filter((each) => each.slider)) {
    row.slider.value = robot.q[row.q];
    row.value.replaceChildren(format(robot.q[row.q], 3), create("span", { className: "unit" }, ` ${row.qUnit}`));
  }
  element("command").textContent = `dynamicsctl id ${robot.name} --q=${robot.q.join(",")}`;
  isStale = true;
  while (isStale && !isAsking) {
    const asked = robot;
    isAsking = true;
    isStale = false;
    try {
      const reply = await call("inverse_dynamics", "InverseDynamics", { query: { model: asked.name }, q: asked.q });
      if (asked === robot) {
        notice("");
        draw(reply.tau);
      }
    } catch (error) {
      notice(error.message);
    }
    isAsking = false;
  }
}

/** Draws each torque from the middle of its bar, which is as long on each side as the limit. */
function draw(tau) {
  const largest = Math.max(...tau.map(Math.abs), 1e-9);
  for (const row of robot.rows) {
    const torque = tau[row.v], share = Math.abs(torque) / (row.limit || largest), half = 50 * Math.min(share, 1);
    row.fill.style.width = `${half}%`;
    row.fill.style.left = `${torque < 0 ? 50 - half : 50}%`;
    row.fill.dataset.level = !row.limit ? "none" : share > 1 ? 2 : share > 0.7 ? 1 : 0;
    row.torque.dataset.value = torque;
    row.torque.replaceChildren(format(torque, 2), create("span", { className: "unit" }, ` ${row.unit}`));
    row.share.textContent = row.limit ? `${Math.round(100 * share)} %` : "";
    row.line.title = row.limit ? `limit ${row.limit} ${row.unit}` : "no limit stated";
  }
}

/* ---- input ------------------------------------------------------------------------------------------------------- */

function setConfiguration(q) {
  robot.q = [...q];
  ask();
}

element("model").addEventListener("change", (event) => {
  show(event.target.value).catch((error) => notice(error.message));
});
element("home").addEventListener("click", () => setConfiguration(robot.description.home_q));
element("zero").addEventListener("click", () => setConfiguration(robot.description.zero_q));
element("copy").addEventListener("click", async () => {
  const text = element("command").textContent;
  try {
    await navigator.clipboard.writeText(text);
    element("copy").textContent = "Copied";
  } catch {
    getSelection().selectAllChildren(element("command")); // without permission: select it for the user to copy
    element("copy").textContent = "Selected";
  }
  setTimeout(() => (element("copy").textContent = "Copy"), 1500);
});

ros.connect(url);
