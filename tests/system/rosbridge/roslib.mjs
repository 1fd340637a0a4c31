// SPDX-License-Identifier: BSD-2-Clause
// The scenario in Node:
//
//     node roslib.mjs URL
import * as ROSLIB from "roslib";
import { run } from "./scenario.mjs";

await run(ROSLIB, process.argv[2], (line) => console.log(line));
process.exit(0);
