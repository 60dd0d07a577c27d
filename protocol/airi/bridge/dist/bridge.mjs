// src/bridge.mjs
import path3 from "node:path";
import process2 from "node:process";

// src/channel.mjs
import { setMaxListeners } from "node:events";

// src/names.mjs
var RESERVED = "airi-host:";
var CONTROL = `${RESERVED}bridge:`;
var PROTOCOL = 1;
var HOST_ID = "airi-host-";
var FUNCTION = "eventa-invoke-fn-";
var SERVICE = "proj-airi:plugin-sdk:apis:protocol:";
var CAPABILITY_WAIT = `${SERVICE}capabilities:wait`;
var CAPABILITY_SNAPSHOT = `${SERVICE}capabilities:snapshot`;
var LIST_PROVIDERS = `${SERVICE}resources:providers:list-providers`;
var EVENT = "event:";
var VALIDATE = "module:configuration:validate:request";
var VALIDATED = "module:configuration:validate:response";
var EVENTA = "@moeru/eventa";
var SDK = "@proj-airi/plugin-sdk";
function isSdk(specifier) {
  return specifier === SDK || specifier === `${SDK}/plugin` || specifier.startsWith(`${SDK}/plugin/`);
}

// src/asked.mjs
var isForAll = ({ tag }) => tag.startsWith(EVENT);
function createAsked({ hears, handles }) {
  const calls2 = /* @__PURE__ */ new Map();
  let preAborted;
  const isInFlight = (step2) => calls2.get(step2.tag)?.has(step2.invokeId) === true;
  const follows = (step2) => hears(`${step2.tag}-receive-stream-end-${step2.invokeId}`);
  function decide(step2, isPart) {
    if (step2.kind === "abort") {
      preAborted = step2.invokeId;
      return { leaves: isInFlight(step2) };
    }
    if (isInFlight(step2)) {
      return { leaves: true };
    }
    if (handles(step2.tag) && !isForAll(step2) || step2.invokeId === preAborted || isPart && !hears(`${step2.tag}-receive-${step2.invokeId}`)) {
      return { leaves: false };
    }
    return { leaves: true, opens: follows(step2) ? "stream" : "value" };
  }
  function sent2(step2, opens) {
    if (opens !== void 0) {
      const ofTag = calls2.get(step2.tag);
      const isStream = opens === "stream";
      ofTag === void 0 ? calls2.set(step2.tag, /* @__PURE__ */ new Map([[step2.invokeId, isStream]])) : ofTag.set(step2.invokeId, isStream);
    } else if (step2.kind === "abort") {
      forget(step2);
    }
  }
  function answered(step2) {
    const isStream = calls2.get(step2.tag)?.get(step2.invokeId);
    forget(step2);
    return isStream === true;
  }
  function forget(step2) {
    const ofTag = calls2.get(step2.tag);
    if (ofTag?.delete(step2.invokeId) && ofTag.size === 0) {
      calls2.delete(step2.tag);
    }
  }
  return { decide, sent: sent2, answered };
}

// src/channel.mjs
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
  const [name, message, code] = ["name", "message", "code"].map((key) => read(error, key));
  return {
    name: words(name) ?? "Error",
    message: words(message) ?? "",
    code: typeof code === "string" || typeof code === "number" ? code : void 0,
    data: inJson(dataOf(error)),
    at: placeOf(error) || void 0
  };
}
function describeAny(thrown) {
  return isError(thrown) ? describe(thrown) : showable(thrown);
}
function read(object, key) {
  try {
    return object[key];
  } catch {
    return void 0;
  }
}
function dataOf(error) {
  const data = read(error, "data");
  if (data !== void 0) {
    return data;
  }
  const added = {};
  for (const key of Object.keys(error)) {
    const value = STANDARD.has(key) ? void 0 : inJson(read(error, key));
    if (value !== void 0) {
      added[key] = value;
    }
  }
  return Object.keys(added).length > 0 ? added : void 0;
}
var STANDARD = /* @__PURE__ */ new Set(["name", "message", "code", "stack", "cause", "__proto__"]);
function inJson(value) {
  try {
    return JSON.parse(JSON.stringify(value));
  } catch {
    return void 0;
  }
}
function describeThrown(thrown) {
  return isError(thrown) ? describe(thrown) : { thrown: showable(thrown) };
}
function showable(value) {
  return inJson(value) ?? words(value);
}
function words(value) {
  try {
    return value == null ? void 0 : String(value);
  } catch {
    return "something that is no text";
  }
}
function revive(value) {
  if (typeof value !== "object" || value === null || typeof value.message !== "string") {
    return value;
  }
  const { message, name, code, data } = value;
  const error = Object.assign(new Error(message), code === void 0 ? {} : { code }, data === void 0 ? {} : { data });
  if (typeof name === "string") {
    Object.defineProperty(error, "name", { value: name, configurable: true, writable: true });
  }
  return error;
}
var PLACE = /(?:^|[( ])((?:file:\/\/)?\/.*?):(\d+(?::\d+)?)\)?$/;
function placeOf(error) {
  const places = placesIn(error == null ? "" : read(error, "stack"));
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
var SENDS = { "-send": "send", "-send-abort": "abort", "-send-stream-end": "send-end", "-send-error": "send-error" };
var ANSWERS = { "-receive": "answer", "-receive-error": "failure", "-receive-stream-end": "end" };
function stepOf(id, body) {
  if (typeof body !== "object" || body === null || !body.invokeId) {
    return void 0;
  }
  const invokeId = String(body.invokeId);
  return cut(SENDS, "-send", id, id.length, invokeId) ?? (id.endsWith(invokeId) && id[id.length - invokeId.length - 1] === "-" ? cut(ANSWERS, "-receive", id, id.length - invokeId.length - 1, invokeId) : void 0);
}
function cut(kinds, word, id, end, invokeId) {
  const from = id.lastIndexOf(word, end - word.length);
  const kind = from < 0 ? void 0 : kinds[id.slice(from, end)];
  return kind && { kind, tag: id.slice(0, from), invokeId };
}
function tagOf(id) {
  return id.endsWith("-send") ? id.slice(0, -"-send".length) : "";
}
var RESULT = 4;
function sendResult(send2, tag, invokeId, content) {
  send2(`${tag}-receive-${invokeId}`, { invokeId, content }, RESULT);
}
function sendFailure(send2, tag, invokeId, error) {
  send2(`${tag}-receive-error-${invokeId}`, { invokeId, content: { error } }, 5);
}

// src/input.mjs
var MAX_UNREAD = 64 * 1024 * 1024;
function createInput() {
  const streams = /* @__PURE__ */ new Set();
  let size = 0;
  let finish;
  function open2() {
    let stream;
    return new ReadableStream({
      start(controller) {
        stream = controller;
        finish === void 0 ? streams.add(stream) : finish(stream);
      },
      cancel: () => streams.delete(stream)
    }, { highWaterMark: MAX_UNREAD, size: () => size });
  }
  function push(item, bytes) {
    size = bytes;
    for (const stream of streams) {
      if (stream.desiredSize >= bytes) {
        stream.enqueue(item);
        continue;
      }
      streams.delete(stream);
      stream.error(new RangeError(`more than ${MAX_UNREAD} bytes of the request stream are unread`));
    }
  }
  function close(how) {
    finish ??= how;
    for (const stream of streams) {
      finish(stream);
    }
    streams.clear();
  }
  return {
    open: open2,
    push,
    end: () => close((stream) => stream.close()),
    fail: (error) => close((stream) => stream.error(error))
  };
}

// src/within.mjs
import { AsyncLocalStorage } from "node:async_hooks";
var calls = new AsyncLocalStorage();
var inCall = (invokeId, run2) => calls.run(invokeId, run2);
var currentCall = () => calls.getStore();

// src/served.mjs
function createServed({ emit, listens, refuse }) {
  const calls2 = /* @__PURE__ */ new Map();
  function begin(step2, input) {
    if (!listens(`${step2.tag}-send`)) {
      refuse(step2);
      return void 0;
    }
    const call = { isByHand: !listens(`${step2.tag}-send-stream-end`, true), input };
    calls2.set(step2.invokeId, call);
    return call;
  }
  function streamOf(step2, opens) {
    if (calls2.has(step2.invokeId) || opens === void 0) {
      return calls2.get(step2.invokeId)?.input;
    }
    const input = createInput();
    if (begin(step2, input) === void 0) {
      return void 0;
    }
    inCall(step2.invokeId, () => emit(`${step2.tag}-send`, { invokeId: step2.invokeId, get content() {
      return input.open();
    } }, 0));
    return input;
  }
  function deliver(step2, id, body, { invokeType, opens, bytes }) {
    switch (step2.kind) {
      case "send":
        if (body.isReqStream) {
          streamOf(step2, opens)?.push(body.content, bytes);
        } else if (begin(step2) !== void 0) {
          inCall(step2.invokeId, () => emit(id, body, invokeType));
        }
        break;
      case "send-end":
        streamOf(step2, opens)?.end();
        break;
      case "send-error":
        streamOf(step2, opens)?.fail(revive(body.content));
        break;
      case "abort":
        abort(step2, id, body, invokeType);
    }
  }
  function abort(step2, id, body, invokeType) {
    const call = calls2.get(step2.invokeId);
    if (call === void 0) {
      return;
    }
    calls2.delete(step2.invokeId);
    emit(id, body, invokeType);
    call.input?.fail(new DOMException(String(body.content ?? "Aborted"), "AbortError"));
  }
  function answered(step2, invokeType) {
    const call = calls2.get(step2.invokeId);
    const number = step2.kind === "answer" && call?.isByHand ? RESULT : invokeType;
    if (step2.kind !== "answer" || number === RESULT) {
      calls2.delete(step2.invokeId);
    }
    return number;
  }
  return { deliver, answered };
}

// src/validation.mjs
function createValidation({ isNamed, emit }) {
  const questions = [];
  function ask(id, request) {
    return new Promise((resolve, reject) => {
      questions.push({ id, request, resolve, reject });
      if (questions.length === 1) {
        askFirst();
      }
    });
  }
  function askFirst() {
    const [first] = questions;
    if (first === void 0) {
      return;
    }
    if (!isNamed(VALIDATE)) {
      end(first, first.resolve, { unheard: true });
      return;
    }
    try {
      emit(VALIDATE, first.request);
    } catch (error) {
      end(first, first.reject, error);
    }
  }
  function end(question, settle, value) {
    const place = questions.indexOf(question);
    if (place < 0) {
      return;
    }
    questions.splice(place, 1);
    settle(value);
    if (place === 0) {
      askFirst();
    }
  }
  function giveUp(id) {
    const question = questions.find((one) => one.id === id);
    if (question !== void 0) {
      end(question, question.reject, new Error("nobody waits for the answer any more"));
    }
  }
  function emitted(id, payload) {
    const [first] = questions;
    if (id !== VALIDATED || first === void 0) {
      return;
    }
    const revision = payload?.current?.revision;
    if (revision === void 0 || revision === first.request?.current?.revision) {
      end(first, first.resolve, payload);
    }
  }
  return { ask, giveUp, emitted };
}

// src/channel.mjs
function createChannel({ send: send2, onHandler, onListenerError }) {
  const context = createContext();
  const local = { emit: context.emit, on: context.on, once: context.once, off: context.off };
  context.signal = new AbortController().signal;
  setMaxListeners(0, context.signal);
  const emitted = Promise.resolve();
  const handled = /* @__PURE__ */ new Set();
  let matches = false;
  const asked = createAsked({ hears: isNamed, handles });
  const validation = createValidation({ isNamed, emit: (id, body) => local.emit({ id, type: "event", _flowDirection: "inbound" }, body) });
  const served = createServed({
    emit: emitInbound,
    listens: (id, exactly) => isNamed(id) || matches && !exactly,
    refuse(step2) {
      const error = { name: "NoHandlerError", message: `the plugin has no handler for ${step2.tag}` };
      sendFailure(send2, step2.tag, step2.invokeId, error);
    }
  });
  function isNamed(id) {
    return context.listeners.get(id)?.size > 0 || context.onceListeners.get(id)?.size > 0;
  }
  function handles(tag) {
    return context.listeners.get(`${tag}-send`)?.size > 0;
  }
  function watch({ id, type }) {
    const tag = type === "event" ? tagOf(id) : "";
    if (tag === "" || tag.startsWith(FUNCTION) || handles(tag) === handled.has(tag)) {
      return;
    }
    handles(tag) ? handled.add(tag) : handled.delete(tag);
    onHandler(tag, handled.has(tag));
  }
  function forward(event, payload) {
    const step2 = stepOf(event.id, payload);
    switch (step2?.kind) {
      case void 0:
        forwardEvent(event, payload);
        break;
      case "answer":
      case "end":
      case "failure":
        if (step2.invokeId.startsWith(HOST_ID)) {
          forwardAnswer(step2, event, payload);
        }
        break;
      default:
        forwardCall(step2, event, payload);
        return isForAll(step2) && handles(step2.tag);
    }
    return false;
  }
  function forwardEvent(event, payload) {
    validation.emitted(event.id, payload);
    try {
      send2(event.id, payload, event.invokeType);
    } catch (error) {
      console.error(`airi-host: the event ${event.id} stays in the plugin: ${error.message}`);
    }
  }
  function forwardAnswer(step2, event, payload) {
    sendStep(event, payload, step2.kind === "failure", served.answered(step2, event.invokeType));
  }
  function forwardCall(step2, event, payload) {
    const { leaves, opens } = asked.decide(step2, step2.kind !== "send" || payload.isReqStream);
    if (leaves) {
      sendStep(event, payload, step2.kind !== "send", event.invokeType, opens, opens && currentCall());
      asked.sent(step2, opens);
    }
  }
  function sendStep(event, payload, isFailure, invokeType, opens, within) {
    try {
      send2(event.id, isFailure ? describeIn(payload, describeAny) : describeIn(payload, describe, isError), invokeType, opens, within);
    } catch (error) {
      throw new TypeError(`${event.id} cannot go to the host: ${error.message}`);
    }
  }
  context.emit = (event, payload, options) => {
    if (String(event.id).startsWith(RESERVED)) {
      throw new Error(`event ids that start with ${RESERVED} are reserved, got ${event.id}`);
    }
    if (event._flowDirection !== "inbound" && forward(event, payload)) {
      return emitted;
    }
    if (matches || isNamed(event.id)) {
      local.emit(event, payload, options);
    }
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
  context.once = (event, listener) => {
    matches ||= event.type !== "event";
    return local.once(event, listener);
  };
  context.off = (event, listener) => {
    local.off(event, listener);
    watch(event);
  };
  function deliver(id, body, about) {
    const step2 = stepOf(id, body);
    const { invokeType } = about;
    switch (step2?.kind) {
      case void 0:
        emitInbound(id, body, invokeType);
        break;
      case "answer":
      case "end":
      case "failure":
        deliverAnswer(step2, id, body, invokeType);
        break;
      default:
        served.deliver(step2, id, body, about);
    }
  }
  function deliverAnswer(step2, id, body, invokeType) {
    if (step2.kind === "failure" && typeof body.content === "object" && body.content !== null) {
      body.content.error = revive(body.content.error);
    }
    const isLast = step2.kind !== "answer" || invokeType === RESULT;
    const takesStream = isLast && asked.answered(step2);
    emitInbound(id, body, invokeType);
    if (takesStream && step2.kind === "answer") {
      emitInbound(`${step2.tag}-receive-stream-end-${step2.invokeId}`, { invokeId: body.invokeId });
    }
  }
  function emitInbound(id, body, invokeType) {
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
  return { context, deliver, validation };
}
function describeIn(body, replace, isMeant = () => true) {
  const { content } = body;
  if (typeof content === "object" && content !== null && Object.hasOwn(content, "error") && !isError(content)) {
    return isMeant(content.error) ? { ...body, content: { ...content, error: replace(content.error) } } : body;
  }
  return content !== void 0 && isMeant(content) ? { ...body, content: replace(content) } : body;
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
function check(record) {
  if (record.length > MAX_RECORD / 3 && Buffer.byteLength(record) > MAX_RECORD) {
    throw new RangeError(`it is longer than ${MAX_RECORD} bytes`);
  }
}
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
    const end = chunk.lastIndexOf(LINE_END);
    if (end >= 0) {
      parts.push(chunk.subarray(0, end));
      const whole = parts.length === 1 ? parts[0] : Buffer.concat(parts);
      parts = [];
      size = 0;
      eachLine(whole, onLine);
    }
    if (end + 1 < chunk.length) {
      parts.push(chunk.subarray(end + 1));
      size += chunk.length - end - 1;
    }
    if (size > MAX_RECORD) {
      throw new RangeError(`a record from the host is longer than ${MAX_RECORD} bytes`);
    }
  };
}
function eachLine(bytes, onLine) {
  const text = bytes.toString();
  const isPlain = text.length === bytes.length;
  for (const line of text.split("\n")) {
    onLine(line, isPlain ? line.length : Buffer.byteLength(line));
  }
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
function send(id, body, invokeType, opens, within) {
  const record = recordOf(sent + 1, id, body, invokeType, opens, within);
  check(record);
  sent++;
  write(record);
}
function recordOf(number, id, body, invokeType, opens, within) {
  const name = JSON.stringify(id);
  const text = JSON.stringify(body);
  return `{"id":"module-${number}","type":${name},"payload":{"id":${name},"type":"event","_flowDirection":"outbound"${invokeType === void 0 ? "" : `,"invokeType":${JSON.stringify(invokeType)}`}${opens === void 0 ? "" : `,"opens":"${opens}"`}${within === void 0 ? "" : `,"within":${JSON.stringify(within)}`}${text === void 0 ? "" : `,"body":${text}`}}}`;
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
async function validate(invokeId, request) {
  const tag = `${CONTROL}validate`;
  try {
    sendResult(send, tag, invokeId, await channel.validation.ask(invokeId, request));
  } catch (thrown) {
    sendFailure(send, tag, invokeId, describeThrown(thrown));
  }
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
function onRecord(line, bytes) {
  if (line === "" || line[0] !== "{" && line.trim() === "") {
    return;
  }
  const { type: id, payload } = readFrame(line);
  if (typeof id !== "string" || typeof payload !== "object" || payload === null) {
    console.error("airi-host: what came from the host is no frame");
    return;
  }
  if (!id.startsWith(CONTROL)) {
    channel.deliver(id, payload.body, { invokeType: payload.invokeType, opens: payload.opens, bytes });
    return;
  }
  const name = tagOf(id).slice(CONTROL.length);
  if (id === `${CONTROL}validate-send-abort`) {
    channel.validation.giveUp(payload.body?.invokeId);
  } else if (name === "validate") {
    validate(payload.body?.invokeId, payload.body?.content);
  } else if (Object.hasOwn(run, name)) {
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
