// SPDX-License-Identifier: BSD-2-Clause
// Tells the browser where npm has put the modules of roslib; a page loads this before its own modules.
const files = {
  "roslib": "roslib/dist/RosLib.js",
  "bson": "bson/lib/bson.mjs",
  "cbor2": "cbor2/lib/index.js",
  "@cto.af/wtf8": "@cto.af/wtf8/lib/index.js",
  "eventemitter3": "eventemitter3/dist/eventemitter3.esm.js",
  "fast-png": "fast-png/lib/index.js",
  "fflate": "fflate/esm/browser.js",
  "iobuffer": "iobuffer/lib/iobuffer.js",
  "uuid": "uuid/dist/index.js",
};
const imports = Object.fromEntries(Object.entries(files).map(([name, file]) => [name, `./node_modules/${file}`]));
const map = document.createElement("script");
map.type = "importmap";
map.textContent = JSON.stringify({ imports });
document.currentScript.after(map);
