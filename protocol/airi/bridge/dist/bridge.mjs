// src/bridge.mjs
import path3 from "node:path";
import process2 from "node:process";

// src/channel.mjs
import { setMaxListeners } from "node:events";
import { createContext } from "./eventa.mjs";

// src/failures.mjs
import { spawnSync } from "node:child_process";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { types } from "node:util";
var bridge = path.dirname(fileURLToPath(import.meta.url));
var root = process.cwd();
function isError(value) {
  return value instanceof Error || types.isNativeError(value);
}
function describe(error) {
  const { name, message, code } = error;
  return {
    name: String(name),
    message: String(message),
    code: typeof code === "string" || typeof code === "number" ? code : void 0,
    at: placeOf(error) || void 0
  };
}
function describeThrown(thrown) {
  return isError(thrown) ? describe(thrown) : { thrown: showable(thrown) };
}
function showable(value) {
  try {
    return JSON.parse(JSON.stringify(value));
  } catch {
    return String(value);
  }
}
function revive(value) {
  if (typeof value !== "object" || value === null || typeof value.message !== "string") {
    return value;
  }
  const { message, name, ...rest } = value;
  const error = Object.assign(new Error(message), rest);
  if (typeof name === "string") {
    Object.defineProperty(error, "name", { value: name, configurable: true, writable: true });
  }
  return error;
}
var PLACE = /(?:^|[( ])((?:file:\/\/)?\/.*?):(\d+(?::\d+)?)\)?$/;
function placeOf(error) {
  const places = placesIn(error?.stack);
  const own = places.find(({ file: file2 }) => isWithin(root, file2) && !file2.includes("/node_modules/"));
  const place = own ?? places[0];
  if (place === void 0) {
    return "";
  }
  return `${isWithin(root, place.file) ? path.relative(root, place.file) : place.file}:${place.line}`;
}
function placesIn(stack) {
  const places = [];
  for (const text of typeof stack === "string" ? stack.split("\n") : []) {
    const found = PLACE.exec(text);
    const file2 = found === null ? "" : fileOf(found[1]);
    if (file2 !== "" && !isWithin(bridge, file2)) {
      places.push({ file: file2, line: found[2] });
    }
  }
  return places;
}
function fileOf(name) {
  try {
    return name.startsWith("file:") ? fileURLToPath(name) : name;
  } catch {
    return "";
  }
}
function isWithin(directory, file2) {
  return file2.startsWith(directory === path.sep ? directory : directory + path.sep);
}
function placeSyntaxError(error, entry2) {
  if (!(error instanceof SyntaxError) || placeOf(error) !== "") {
    return;
  }
  const { stderr } = spawnSync(process.execPath, ["--check", entry2], {
    encoding: "utf8",
    maxBuffer: 1 << 20,
    stdio: ["ignore", "ignore", "pipe"],
    timeout: 5e3
  });
  const [place] = placesIn(stderr);
  if (place !== void 0) {
    error.stack = `${place.file}:${place.line}
${error.stack}`;
  }
}

// src/invoke.mjs
var SENDS = [["-send", "send"], ["-send-abort", "abort"], ["-send-stream-end", "more"], ["-send-error", "more"]];
var ANSWERS = [["-receive-stream-end", "answer"], ["-receive-error", "failure"], ["-receive", "answer"]];
function stepOf(id, body) {
  if (typeof body !== "object" || body === null || !body.invokeId) {
    return void 0;
  }
  const invokeId = String(body.invokeId);
  for (const [suffix, kind] of SENDS) {
    if (id.endsWith(suffix)) {
      return { kind, tag: id.slice(0, -suffix.length), invokeId };
    }
  }
  for (const [suffix, kind] of ANSWERS) {
    const end = `${suffix}-${invokeId}`;
    if (id.endsWith(end)) {
      return { kind, tag: id.slice(0, -end.length), invokeId };
    }
  }
  return void 0;
}
function tagOf(id) {
  return id.endsWith("-send") ? id.slice(0, -"-send".length) : "";
}
function sendResult(send2, tag, invokeId, content) {
  send2(`${tag}-receive-${invokeId}`, { invokeId, content }, 4);
}
function sendFailure(send2, tag, invokeId, error) {
  send2(`${tag}-receive-error-${invokeId}`, { invokeId, content: { error } }, 5);
}

// src/names.mjs
var RESERVED = "airi-host:";
var CONTROL = `${RESERVED}bridge:`;
var PROTOCOL = 1;
var HOST_ID = "airi-host-";
var SERVICE = "proj-airi:plugin-sdk:apis:protocol:";
var CAPABILITY_WAIT = `${SERVICE}capabilities:wait`;
var CAPABILITY_SNAPSHOT = `${SERVICE}capabilities:snapshot`;
var LIST_PROVIDERS = `${SERVICE}resources:providers:list-providers`;
var EVENTA = "@moeru/eventa";
var SDK = "@proj-airi/plugin-sdk";
function isSdk(specifier) {
  return specifier === SDK || specifier === `${SDK}/plugin` || specifier.startsWith(`${SDK}/plugin/`);
}

// src/channel.mjs
function createChannel({ send: send2, onHandler, onListenerError }) {
  const context = createContext();
  const local = { emit: context.emit, on: context.on, off: context.off };
  context.signal = new AbortController().signal;
  setMaxListeners(0, context.signal);
  const emitted = Promise.resolve();
  const asked = /* @__PURE__ */ new Set();
  const handled = /* @__PURE__ */ new Set();
  let matches = false;
  function handles(tag) {
    return context.listeners.get(`${tag}-send`)?.size > 0;
  }
  function watch({ id, type }) {
    const tag = type === "event" ? tagOf(id) : "";
    if (tag === "" || handles(tag) === handled.has(tag)) {
      return;
    }
    handles(tag) ? handled.add(tag) : handled.delete(tag);
    onHandler(tag, handled.has(tag));
  }
  function leaves(step2) {
    switch (step2?.kind) {
      case "send":
        return !handles(step2.tag);
      case "more":
      case "abort":
        return asked.has(step2.invokeId);
      case "answer":
      case "failure":
        return step2.invokeId.startsWith(HOST_ID);
      default:
        return true;
    }
  }
  function forward(event, payload) {
    const step2 = stepOf(event.id, payload);
    if (!leaves(step2)) {
      return;
    }
    try {
      send2(event.id, toJson(payload), event.invokeType);
    } catch (error) {
      if (step2 !== void 0) {
        throw new TypeError(`${event.id} cannot go to the host: ${error.message}`);
      }
      console.error(`airi-host: the event ${event.id} stays in the plugin: ${error.message}`);
      return;
    }
    if (step2?.kind === "send") {
      asked.add(step2.invokeId);
    } else if (step2?.kind === "abort") {
      asked.delete(step2.invokeId);
    }
  }
  context.emit = (event, payload, options) => {
    if (String(event.id).startsWith(RESERVED)) {
      throw new Error(`event ids that start with ${RESERVED} are reserved, got ${event.id}`);
    }
    if (event._flowDirection !== "inbound") {
      forward(event, payload);
    }
    local.emit(event, payload, options);
    return emitted;
  };
  context.on = (event, listener) => {
    const stop2 = local.on(event, listener);
    matches ||= event.type !== "event";
    watch(event);
    return () => {
      const stopped = stop2();
      watch(event);
      return stopped;
    };
  };
  context.off = (event, listener) => {
    local.off(event, listener);
    watch(event);
  };
  function deliver(id, body, invokeType) {
    const step2 = stepOf(id, body);
    if (step2?.kind === "send" && !isHeard(id)) {
      const error = { name: "NoHandlerError", message: `the plugin has no handler for ${step2.tag}` };
      sendFailure(send2, step2.tag, body.invokeId, error);
      return;
    }
    if (step2?.kind === "answer" || step2?.kind === "failure") {
      asked.delete(step2.invokeId);
    }
    if (step2?.kind === "failure") {
      reviveError(body.content);
    }
    const event = { id, type: "event", _flowDirection: "inbound" };
    if (invokeType !== void 0) {
      event.invokeType = invokeType;
    }
    try {
      local.emit(event, body);
    } catch (error) {
      onListenerError(id, error);
    }
  }
  function isHeard(id) {
    return matches || context.listeners.get(id)?.size > 0 || context.onceListeners.get(id)?.size > 0;
  }
  return { context, deliver };
}
function reviveError(content) {
  if (typeof content === "object" && content !== null) {
    content.error = revive(content.error);
  }
}
function toJson(body) {
  const content = body?.content;
  if (isError(content)) {
    return { ...body, content: describe(content) };
  }
  if (isError(content?.error)) {
    return { ...body, content: { ...content, error: describe(content.error) } };
  }
  return body;
}

// src/imports.mjs
import nodeModule from "node:module";
import { fileURLToPath as fileURLToPath2 } from "node:url";
import * as eventa from "./eventa.mjs";
import * as sdk from "./sdk.mjs";
var file = (name) => fileURLToPath2(new URL(name, import.meta.url));
var canAnswer = typeof nodeModule.register === "function";
function answerImports() {
  nodeModule.register("./hooks.mjs", import.meta.url);
  answerRequire();
}
function answerRequire() {
  const sdkFile = keep(file("./sdk.mjs"), sdk);
  const eventaFile = keep(file("./eventa.mjs"), eventa);
  const resolve = nodeModule._resolveFilename;
  nodeModule._resolveFilename = function(request, ...rest) {
    if (isSdk(request)) {
      return sdkFile;
    }
    if (request !== EVENTA) {
      return resolve.call(this, request, ...rest);
    }
    const own = attempt(() => resolve.call(this, request, ...rest));
    return own !== void 0 && isRequirable(own) ? own : eventaFile;
  };
}
function keep(name, namespace) {
  const kept = new nodeModule(name);
  kept.filename = name;
  kept.loaded = true;
  kept.exports = { ...namespace };
  nodeModule._cache[name] = kept;
  return name;
}
function attempt(resolve) {
  try {
    return resolve();
  } catch (error) {
    if (error?.code !== "MODULE_NOT_FOUND" && error?.code !== "ERR_PACKAGE_PATH_NOT_EXPORTED") {
      throw error;
    }
  }
}
function isRequirable(name) {
  return !name.endsWith(".mjs") || process.features.require_module === true;
}

// src/plugin.mjs
import path2 from "node:path";
import { pathToFileURL } from "node:url";
var WANTED = "export definePlugin(...), or an object with init or setupModules";
async function loadPlugin(entry2) {
  const name = path2.basename(entry2);
  return accept(await importEntry(entry2), name);
}
async function importEntry(entry2) {
  try {
    return await import(pathToFileURL(entry2).href);
  } catch (error) {
    placeSyntaxError(error, entry2);
    throw error;
  }
}
async function accept(exported, name) {
  if (isDefinition(exported)) {
    return exported.setup();
  }
  if (isDefinition(exported.default)) {
    return exported.default.setup();
  }
  if (exported.default === null) {
    throw new TypeError(`The default export of ${name} is null: ${WANTED}.`);
  }
  if (typeof exported.default === "object" && hasHooks(exported.default)) {
    return exported.default;
  }
  if (hasHooks(exported)) {
    return exported;
  }
  throw new Error("Failed to resolve plugin module. The entrypoint must export either definePlugin(...) or Plugin hooks.");
}
function isDefinition(value) {
  return typeof value === "object" && value !== null && typeof value.setup === "function";
}
function hasHooks(value) {
  return typeof value.init === "function" || typeof value.setupModules === "function";
}
function checkPlugin(plugin2) {
  if (plugin2 === void 0 || plugin2 === null) {
    throw new TypeError(`The plugin's setup() returned ${plugin2}: return an object with init or setupModules.`);
  }
  return plugin2;
}

// src/bridge.mjs
import { createApis } from "./sdk.mjs";

// src/wire.mjs
import fs from "node:fs";
import net from "node:net";
var IN = 3;
var OUT = 4;
var LINE_END = 10;
var MAX_RECORD = 64 * 1024 * 1024;
var FLUSH_AT = 64 * 1024;
var queue = [];
var queued = 0;
var scheduled = false;
var ending = false;
var gone = false;
function write(record) {
  queue.push(record);
  queued += record.length;
  if (ending || queued >= FLUSH_AT) {
    flush();
  } else if (!scheduled) {
    scheduled = true;
    setImmediate(flush);
  }
}
function flush() {
  scheduled = false;
  if (queue.length === 0) {
    return;
  }
  const bytes = Buffer.from(`${queue.join("\n")}
`);
  queue = [];
  queued = 0;
  if (!gone) {
    writeAll(bytes);
  }
}
var pause = new Int32Array(new SharedArrayBuffer(4));
function writeAll(bytes) {
  let done = 0;
  while (done < bytes.length) {
    try {
      done += fs.writeSync(OUT, bytes, done);
    } catch (error) {
      if (error.code !== "EAGAIN") {
        gone = true;
        return;
      }
      Atomics.wait(pause, 0, 0, 1);
    }
  }
}
function flushAtExit() {
  process.on("exit", () => {
    ending = true;
    flush();
  });
}
function open({ onRecord: onRecord2, onEnd }) {
  const socket = new net.Socket({ fd: IN, readable: true, writable: false });
  const lines = splitLines(onRecord2);
  socket.on("data", lines);
  socket.on("end", onEnd);
  socket.on("error", onEnd);
}
function splitLines(onLine) {
  let parts = [];
  let size = 0;
  return (chunk) => {
    let from = 0;
    for (let end = chunk.indexOf(LINE_END); end >= 0; end = chunk.indexOf(LINE_END, from)) {
      parts.push(chunk.subarray(from, end));
      from = end + 1;
      const line = parts.length === 1 ? parts[0] : Buffer.concat(parts);
      parts = [];
      size = 0;
      onLine(line.toString());
    }
    parts.push(chunk.subarray(from));
    size += chunk.length - from;
    if (size > MAX_RECORD) {
      throw new RangeError(`a record from the host is longer than ${MAX_RECORD} bytes`);
    }
  };
}

// src/bridge.mjs
var entry = path3.resolve(process2.argv[2] ?? "");
var run = { load, init, setup, stop };
var plugin;
var isReady = false;
var sent = 0;
var listenerError;
var channel = createChannel({
  send,
  onHandler: (tag, isDefined) => send(`${CONTROL}handler-${isDefined ? "defined" : "removed"}`, { tag }),
  onListenerError(id, error) {
    if (!isReady) {
      listenerError ??= { error };
      return;
    }
    const at = placeOf(error);
    console.error(`airi-host: a listener of ${id} failed${at && ` at ${at}`}: ${error?.message ?? error}`);
  }
});
var given = { channels: { host: channel.context }, apis: createApis(channel.context) };
function send(id, body, invokeType) {
  const payload = { id, type: "event", _flowDirection: "outbound", invokeType, body };
  const record = JSON.stringify({ id: `module-${sent + 1}`, type: id, payload });
  sent++;
  write(record);
}
async function load() {
  plugin = await loadPlugin(entry);
}
async function init() {
  const result = await checkPlugin(plugin).init?.({ ...given });
  return result === false ? { aborted: true } : void 0;
}
async function setup() {
  await checkPlugin(plugin).setupModules?.({ ...given });
}
async function stop() {
}
async function step(name, invokeId) {
  const tag = `${CONTROL}${name}`;
  try {
    throwListenerError();
    const content = await run[name]();
    throwListenerError();
    isReady ||= name === "setup";
    sendResult(send, tag, invokeId, content);
  } catch (thrown) {
    sendFailure(send, tag, invokeId, describeThrown(thrown));
  }
}
function throwListenerError() {
  const failed = listenerError;
  listenerError = void 0;
  if (failed !== void 0) {
    throw failed.error;
  }
}
function onRecord(line) {
  if (line.trim() === "") {
    return;
  }
  const { type: id, payload } = readFrame(line);
  if (typeof id !== "string" || typeof payload !== "object" || payload === null) {
    console.error("airi-host: what came from the host is no frame");
    return;
  }
  if (!id.startsWith(CONTROL)) {
    channel.deliver(id, payload.body, payload.invokeType);
    return;
  }
  const name = tagOf(id).slice(CONTROL.length);
  if (Object.hasOwn(run, name)) {
    step(name, payload.body?.invokeId);
  }
}
function readFrame(line) {
  try {
    return JSON.parse(line) ?? {};
  } catch {
    return {};
  }
}
function reportCrash(error, origin) {
  if (process2.listenerCount("uncaughtException") === 0) {
    crashed(origin === "unhandledRejection" ? "unhandled rejection" : "uncaught exception", error);
  }
}
function crashed(origin, error) {
  const { name, message, at } = describeThrown(error);
  send(`${CONTROL}crashed`, { origin, name, message: message ?? String(error), at });
  flush();
}
function start() {
  if (process2.argv[2] === void 0) {
    refuseToStart("name the entrypoint of an AIRI module");
  }
  flushAtExit();
  keepLogs();
  openWire();
  if (!canAnswer) {
    crashed("start", new Error(`the bridge needs Node.js 20.6 or newer, this is ${process2.versions.node}`));
    process2.exit(1);
  }
  process2.on("uncaughtExceptionMonitor", reportCrash);
  answerImports();
  process2.argv.splice(1, process2.argv.length, entry);
  send(`${CONTROL}hello`, { protocol: PROTOCOL, bridge: "1.0.0", node: process2.versions.node });
}
function keepLogs() {
  for (const stream of [process2.stdout, process2.stderr]) {
    stream._handle?.setBlocking?.(true);
  }
}
function openWire() {
  const end = () => process2.exit();
  try {
    open({ onRecord, onEnd: end });
  } catch (error) {
    refuseToStart(`descriptors 3 and 4 have to be pipes to airi-host (${error.message})`);
  }
  process2.stdin.on("end", end).on("error", end).resume();
}
function refuseToStart(why) {
  console.error(`airi-host: the bridge is started by airi-host: ${why}`);
  process2.exit(2);
}
start();
