// SPDX-License-Identifier: BSD-2-Clause
// Requests of Foxglove Studio to a rosbridge server, with Foxglove's fork of roslib and its readers of messages.
// VERSION is the version of ROS that the gateway is configured for.
//
//     node foxglove.mjs URL VERSION
import { parse } from "@foxglove/rosmsg";
import { MessageReader as Ros1Reader } from "@foxglove/rosmsg-serialization";
import { MessageReader as Ros2Reader } from "@foxglove/rosmsg2-serialization";
import assert from "node:assert";
import { WebSocket } from "ws";

import { run } from "./scenario.mjs";

// The fork is made for browsers.
globalThis.WebSocket ??= WebSocket;
globalThis.window = globalThis;
const { default: ROSLIB } = await import("@foxglove/roslibjs");
const [url, version] = process.argv.slice(2);
const ros2 = version === "2";
const ros = new ROSLIB.Ros({ url });
const say = (line) => console.log(line);

/// The next message of a topic, plain or in the binary form of ROS; one of an earlier subscription may still come.
function next(name, messageType, compression) {
  const topic = new ROSLIB.Topic({ ros, name, messageType, compression });
  return new Promise((resolve) => topic.subscribe((message) => {
    if ((compression === "cbor-raw") !== ("bytes" in message)) return;
    topic.unsubscribe();
    resolve(message);
  }));
}

/// Typed arrays are arrays and 64-bit integers numbers here; a header of ROS 1 has a number in its binary form only.
const plain = (message) => JSON.parse(JSON.stringify(message, (key, value) =>
  ArrayBuffer.isView(value) ? [...value]
    : typeof value === "bigint" ? Number(value)
    : key === "seq" ? undefined : value));

const call = (name, args) => new Promise((resolve, reject) =>
  new ROSLIB.Service({ ros, name, serviceType: "" }).callService(args, resolve, reject));
const made = await call("/dynamics/create_simulation", {
  name: "foxglove", query: { model: "two_link" }, pace: "PACE_CLOCK" });
let told;
do {
  told = await new Promise((resolve, reject) => ros.getTopicsAndRawTypes(resolve, reject));
} while (!told.topics.includes("/dynamics/simulations/foxglove/state"));
for (const [i, topic] of told.topics.entries()) {
  const definitions = parse(told.typedefs_full_text[i], { ros2 });
  assert(definitions[0].definitions.length > 0, `${topic} has no fields`);
  if (/models|events|command|wrench|rosout/.test(topic)) continue;
  const reader = new (ros2 ? Ros2Reader : Ros1Reader)(definitions);
  const text = plain(await next(topic, told.types[i], "none"));
  const { bytes } = await next(topic, told.types[i], "cbor-raw");
  const read = plain(reader.readMessage(bytes));
  assert.deepStrictEqual(Object.keys(read), Object.keys(text), topic);
  if (topic === "/diagnostics")
    assert.deepStrictEqual(read.status, text.status);
  else if (topic === "/robot_description")
    assert(read.data.startsWith("<?xml") && read.data === text.data, topic);
  else if (/^\/tf/.test(topic))
    assert(read.transforms.every(each => Number.isFinite(each.transform.translation.x)), topic);
  else
    assert((read.position ?? read.q).length % 2 === 0 && Number.isFinite((read.position ?? read.q)[0]), topic);
}
await call("/dynamics/delete_simulation", { simulation: "foxglove", token: made.token });
say(`read ${told.topics.length} topics`);
ros.close();
if (ros2) await run(ROSLIB, url, say); // names types in the spelling of ROS 2
process.exit(0);
