// Verify a Tallystick store or journal with this file, Node 20 and nothing else.
//
//     node verify.mjs PATH [--pinned DID] [--remembered NOTE] [--require A2|sealed|A1] [--redaction none|content|full]
//     node verify.mjs --batch        one request a line on standard input, {"path": …, "pinned": …}; one report a line
//
// Written from docs/format.md and in its order, with Node's own library: a third program from one text, in another
// language than the other two. What the three do not agree on is a fault of the text or of one of them
// (tools/fuzz_stores). It writes nothing and opens no socket. Proofs (sections 21, 22) are not for it.

import { createHash, createPublicKey, verify as verifySignature } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import process from "node:process";
import readline from "node:readline";

// ---- Section 15: limits ---------------------------------------------------------------------------------------------

const MAX_LINE = 1 << 20;
const MAX_DEPTH = 64;
const MAX_META_DEPTH = 4;
const MAX_NAMES = 32;
const MAX_PARENTS = 64;
const MAX_META = 16 << 10;
const MAX_BLOB = 2 ** 30;
const MAX_NOTE = 1 << 20;
const PARSED_BLOB = 1 << 20; // 19.5: a larger JSON blob is not parsed
const MAX_INT = Number.MAX_SAFE_INTEGER;

// ---- Section 14: rules ----------------------------------------------------------------------------------------------

// Of two defects at one entry the one that stands earlier here counts (19.1).
const RULES = [
  ...["limit", "line", "canonical", "version", "member", "sid", "n", "prev", "class", "blob", "fields", "parent"],
  ...["seed", "order", "withheld", "head", "cut", "missing", "signature"],
];

class RuleError extends Error {
  constructor(rule, why) {
    super(why);
    this.rule = rule;
  }
}

function need(holds, rule, why) {
  if (!holds) throw new RuleError(rule, why);
}

// Whether a defect makes a record malformed instead of tampered with (14, 19.2); `covered` entries are under a head.
function isMalformed({ n, rule }, covered) {
  if (rule === "version" && n === 0) return true;
  if (n === null || n < covered) return false;
  return rule === "limit" || rule === "version" || (n === 0 && (rule === "line" || rule === "member"));
}

// ---- Section 1: files -----------------------------------------------------------------------------------------------

const LF = 10;

// The complete lines of a file as [bytes, 0]; [null, 0] for one over the limit, after which nothing is read (19.9);
// [null, size] for a torn tail.
function* readLines(file) {
  const descriptor = fs.openSync(file, "r");
  try {
    const buffer = Buffer.allocUnsafe(1 << 18);
    let rest = Buffer.alloc(0);
    for (;;) {
      const size = fs.readSync(descriptor, buffer, 0, buffer.length, null);
      if (size === 0) break;
      rest = Buffer.concat([rest, buffer.subarray(0, size)]);
      let start = 0;
      for (let end = rest.indexOf(LF); end >= 0; end = rest.indexOf(LF, start)) {
        if (end - start > MAX_LINE) {
          yield [null, 0];
          return;
        }
        yield [rest.subarray(start, end), 0];
        start = end + 1;
      }
      rest = Buffer.from(rest.subarray(start));
      if (rest.length > MAX_LINE) {
        yield [null, 0];
        return;
      }
    }
    if (rest.length > 0) yield [null, rest.length];
  } finally {
    fs.closeSync(descriptor);
  }
}

const ABSENT = new Set(["ENOENT", "ENOTDIR", "ELOOP"]);

// What is at a path, without following a link; null if nothing is.
function look(place, follow = false) {
  try {
    return follow ? fs.statSync(place) : fs.lstatSync(place);
  } catch (error) {
    if (ABSENT.has(error.code) || error.code === "ERR_INVALID_ARG_VALUE") return null;
    throw error;
  }
}

function isFile(place) {
  return look(place)?.isFile() ?? false;
}

// What has the name of a journal, anywhere below a folder: by session, the paths. Links to folders are not followed.
function findJournals(folder) {
  const found = new Map();
  if (!look(folder, true)?.isDirectory()) return found;
  const folders = [Buffer.from(folder)];
  while (folders.length > 0) {
    const here = folders.pop();
    for (const each of fs.readdirSync(here, { encoding: "buffer", withFileTypes: true })) {
      const name = each.name.toString("latin1");
      const place = Buffer.concat([here, Buffer.from("/"), each.name]);
      if (each.isDirectory()) folders.push(place);
      const sid = /^([0-9a-f]{32})\.jsonl$/.exec(name)?.[1];
      if (sid !== undefined) found.set(sid, [...(found.get(sid) ?? []), place]);
    }
  }
  return found;
}

// 19.9: what is in the place of a file of the record, or of one of its folders, and is none.
function strangers(root) {
  const found = [];
  for (const part of ["ledger.jsonl", "heads/ledger.note"]) {
    const status = look(path.join(root, part));
    if (status !== null && !status.isFile()) found.push([null, `${part} is not a regular file`]);
  }
  for (const part of ["journals", "heads", "blobs"]) {
    const place = path.join(root, part);
    if (look(place) !== null && !look(place, true)?.isDirectory()) found.push([null, `${part} is not a folder`]);
  }
  const journals = findJournals(path.join(root, "journals"));
  for (const sid of [...journals.keys()].sort()) {
    for (const place of journals.get(sid)) if (!isFile(place)) found.push([sid, "its file is not a regular file"]);
  }
  return found;
}

// ---- Section 3: canonical form --------------------------------------------------------------------------------------

// A number that was written with a fraction or an exponent: no integer, whatever its value.
class Double {
  constructor(value) {
    this.value = value;
  }
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

// The deepest nesting, by the brackets outside strings.
function depthOf(raw) {
  let depth = 0;
  let deepest = 0;
  let isInside = false;
  for (let at = 0; at < raw.length; at++) {
    const byte = raw[at];
    if (isInside) {
      if (byte === BACKSLASH) at++;
      else if (byte === QUOTE) isInside = false;
    } else if (byte === QUOTE) isInside = true;
    else if (byte === 0x5b || byte === 0x7b) deepest = Math.max(deepest, ++depth);
    else if (byte === 0x5d || byte === 0x7d) depth--;
  }
  return deepest;
}

const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const SPACE = /[ \t\n\r]*/y;
const NUMBER = /-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?/y;
const PLAIN = /"[^"\\\x00-\x1f]*"/y;
const WORDS = new Map([["true", true], ["false", false], ["null", null]]);

// Reads JSON text into null-prototype objects, arrays, strings, booleans, null, integers (a bigint beyond 2^53−1) and
// Doubles. The depth of the text is known to be bounded.
class Reader {
  constructor(text) {
    this.text = text;
    this.at = 0;
  }

  whole() {
    const value = this.value();
    this.skip();
    if (this.at !== this.text.length) this.refuse();
    return value;
  }

  refuse() {
    throw new RuleError("line", `not JSON at character ${this.at}`);
  }

  match(pattern) {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text);
    if (found !== null) this.at = pattern.lastIndex;
    return found;
  }

  skip() {
    this.match(SPACE);
    return this.text[this.at];
  }

  value() {
    const first = this.skip();
    if (first === "{") return this.object();
    if (first === "[") return this.array();
    if (first === '"') return this.string();
    for (const [word, value] of WORDS) {
      if (this.text.startsWith(word, this.at)) {
        this.at += word.length;
        return value;
      }
    }
    return this.number();
  }

  string() {
    const plain = this.match(PLAIN);
    if (plain !== null) return plain[0].slice(1, -1);
    if (this.text[this.at] !== '"') this.refuse();
    const start = this.at;
    this.at++; // by hand: a pattern that repeats alternatives would exhaust the stack on a long string
    for (; this.text[this.at] !== '"'; this.at++) {
      if (this.at >= this.text.length) this.refuse();
      if (this.text[this.at] === "\\") this.at++;
    }
    this.at++;
    try {
      return JSON.parse(this.text.slice(start, this.at));
    } catch {
      return this.refuse();
    }
  }

  number() {
    const found = this.match(NUMBER);
    if (found === null) this.refuse();
    if (found[1] !== undefined || found[2] !== undefined) return new Double(Number(found[0]));
    const value = Number(found[0]);
    return Number.isSafeInteger(value) ? value + 0 : BigInt(found[0].slice(0, 18));
  }

  array() {
    const found = [];
    this.at++;
    if (this.skip() === "]") {
      this.at++;
      return found;
    }
    for (;;) {
      found.push(this.value());
      const next = this.skip();
      this.at++;
      if (next === "]") return found;
      if (next !== ",") this.refuse();
    }
  }

  object() {
    const found = Object.create(null);
    this.at++;
    if (this.skip() === "}") {
      this.at++;
      return found;
    }
    for (;;) {
      this.skip();
      const name = this.string();
      if (this.skip() !== ":") this.refuse();
      this.at++;
      found[name] = this.value();
      const next = this.skip();
      this.at++;
      if (next === "}") return found;
      if (next !== ",") this.refuse();
    }
  }
}

const BOM = Buffer.from([0xef, 0xbb, 0xbf]);

function parseJson(raw) {
  let text;
  try {
    text = UTF8.decode(raw);
  } catch {
    throw new RuleError("line", "not UTF-8");
  }
  const isStray = raw.subarray(0, 3).equals(BOM) || raw.includes(0x0d) || raw.includes(0);
  need(!isStray, "canonical", "a byte order mark, CR or NUL");
  return new Reader(text).whole();
}

function isObject(value) {
  return value !== null && typeof value === "object" && !Array.isArray(value) && !(value instanceof Double);
}

// JCS(value). ECMAScript's own order of keys, numbers and escapes are those of RFC 8785.
function jcs(value) {
  if (Array.isArray(value)) return `[${value.map(jcs).join(",")}]`;
  if (value instanceof Double) {
    need(Number.isFinite(value.value), "canonical", "a number that overflows");
    return String(value.value);
  }
  if (typeof value === "bigint") throw new RuleError("canonical", "an integer beyond 2^53-1");
  if (typeof value === "number") return String(value);
  if (typeof value === "string") {
    need(value.isWellFormed(), "canonical", "a lone surrogate");
    return JSON.stringify(value);
  }
  if (value === null || typeof value === "boolean") return String(value);
  const names = Object.keys(value).sort();
  return `{${names.map((name) => `${jcs(name)}:${jcs(value[name])}`).join(",")}}`;
}

function canonical(value) {
  return Buffer.from(jcs(value), "utf8");
}

function isCanonical(raw) {
  try {
    return depthOf(raw) <= MAX_DEPTH && canonical(parseJson(raw)).equals(raw);
  } catch (error) {
    if (error instanceof RuleError) return false;
    throw error;
  }
}

// ---- Section 4: hashes ----------------------------------------------------------------------------------------------

function sha256(...parts) {
  const state = createHash("sha256");
  for (const part of parts) state.update(part);
  return state.digest();
}

function u64be(number) {
  const found = Buffer.alloc(8);
  found.writeBigUInt64BE(BigInt(number));
  return found;
}

// H with its last part yet to be fed, if `more` says of how many bytes it is.
function framed(tag, parts, more = null) {
  const name = Buffer.from(`tallystick/v1/${tag}`, "ascii");
  const count = Buffer.alloc(4);
  count.writeUInt32BE(parts.length + (more === null ? 0 : 1));
  const state = createHash("sha256").update(Buffer.from([name.length])).update(name).update(count);
  for (const part of parts) state.update(u64be(part.length)).update(part);
  return more === null ? state : state.update(u64be(more));
}

function tagged(tag, ...parts) {
  return framed(tag, parts).digest();
}

function fieldsHash(commitments) {
  const parts = [];
  for (const name of [...commitments.keys()].sort()) parts.push(Buffer.from(name, "ascii"), commitments.get(name));
  return tagged("fields", ...parts);
}

function entryHash(entry) {
  return sha256(Buffer.from([0]), "tallystick/v1/entry\n", canonical(entry));
}

// RFC 9162: the root of the first `size` leaves.
class Tree {
  constructor(leaves) {
    this.leaves = leaves;
    this.known = new Map([[0, sha256()]]);
    this.nodes = new Map();
  }

  root(size) {
    if (!this.known.has(size)) this.known.set(size, this.#range(0, size));
    return this.known.get(size);
  }

  #range(start, size) {
    if (size === 1) return this.leaves[start];
    const place = `${start} ${size}`;
    if (this.nodes.has(place)) return this.nodes.get(place);
    let left = 1;
    while (left * 2 < size) left *= 2;
    const node = sha256(Buffer.from([1]), this.#range(start, left), this.#range(start + left, size - left));
    if (left * 2 === size) this.nodes.set(place, node); // a subtree that is full is the same in every larger tree
    return node;
  }
}

// ---- Section 2, 5: the line -----------------------------------------------------------------------------------------

// A shape says of a value whether it fits.
const matching = (pattern) => (value) => typeof value === "string" && pattern.test(value);
const whole = (least) => (value) => Number.isSafeInteger(value) && value >= least;
const listOf = (shape) => (value) => Array.isArray(value) && value.every(shape);
const membersOf = (shapes) => (value) =>
  isObject(value) &&
  Object.keys(value).length === Object.keys(shapes).length &&
  Object.keys(shapes).every((name) => Object.hasOwn(value, name) && shapes[name](value[name]));

const isSid = matching(/^[0-9a-f]{32}$/);
const isHash = matching(/^[0-9a-f]{64}$/);
const isInteger = whole(-MAX_INT);
const isCount = whole(0);
const isParent = matching(/^([0-9a-f]{32}#)?[0-9a-f]{64}$/);
const isEntry = membersOf({
  fields: isHash,
  n: isInteger,
  parents: listOf(isParent),
  prev: isHash,
  sid: isSid,
  v: isInteger,
});
const isBlob = membersOf({ commitment: isHash, kind: matching(/^(json|raw)$/), size: isCount });
const MAPS = { blobs: isBlob, fields: () => true, salts: isHash, withheld: isHash };
const NONE = Object.freeze(Object.create(null));

// 15: the limits that can be seen once a line is parsed.
function checkCounts(line) {
  const part = (name) => (isObject(line[name]) ? line[name] : NONE);
  const [entry, fields, blobs] = [part("entry"), part("fields"), part("blobs")];
  const names = new Set([fields, blobs, part("withheld")].flatMap(Object.keys));
  need(names.size <= MAX_NAMES, "limit", `more than ${MAX_NAMES} names`);
  const few = !Array.isArray(entry.parents) || entry.parents.length <= MAX_PARENTS;
  need(few, "limit", `more than ${MAX_PARENTS} parents`);
  need(typeof entry.n !== "bigint" || entry.n < 0n, "limit", "n is not below 2^53");
  const meta = canonical("meta" in fields ? fields.meta : null);
  need(meta.length <= MAX_META, "limit", `meta is longer than ${MAX_META} bytes`);
  for (const blob of Object.values(blobs)) {
    const size = isObject(blob) ? blob.size : 0;
    const isLarge = typeof size === "bigint" ? size > 0n : typeof size === "number" && size > MAX_BLOB;
    need(!isLarge, "limit", `a blob of more than ${MAX_BLOB} bytes`);
  }
}

class Line {
  constructor(parsed) {
    this.entry = parsed.entry;
    for (const member of Object.keys(MAPS)) this[member] = parsed[member] ?? NONE;
    this.seed = parsed.seed ?? null;
    this.disclosed = [...Object.keys(this.fields), ...Object.keys(this.blobs)];
    this.names = [...this.disclosed, ...Object.keys(this.withheld)];
  }

  get form() {
    const isPart = Object.keys(this.withheld).length > 0;
    if (this.disclosed.length > 0) return isPart ? "partial" : "full";
    return isPart ? "opaque" : "bare";
  }

  salt(name) {
    if (this.seed === null) return Buffer.from(this.salts[name], "hex");
    return tagged("salt", Buffer.from(this.seed, "hex"), Buffer.from(name, "ascii"));
  }
}

// 19.1, from `limit` to `member`, in that order.
function parseLine(raw) {
  need(raw !== null, "limit", `the line is longer than ${MAX_LINE} bytes`);
  need(depthOf(raw) <= MAX_DEPTH, "limit", `nested deeper than ${MAX_DEPTH}`);
  const parsed = parseJson(raw);
  need(isObject(parsed), "line", "not a JSON object");
  checkCounts(parsed);
  need(isObject(parsed.entry), "member", "no entry: nothing of ours");
  need(canonical(parsed).equals(raw), "canonical", "not the canonical form of what it says");
  const version = parsed.entry.v;
  need(!isInteger(version) || version === 1, "version", "a format version that is not known");
  need(isEntry(parsed.entry), "member", "entry is not made of a proper fields, n, parents, prev, sid and v");
  for (const [member, value] of Object.entries(parsed)) {
    if (member === "entry") continue;
    if (member === "seed") {
      need(isHash(value), "member", "seed is not 32 bytes in hex");
      continue;
    }
    need(Object.hasOwn(MAPS, member), "member", "an unknown member");
    const values = isObject(value) ? Object.values(value) : [];
    need(values.length > 0 && values.every(MAPS[member]), "member", `${member} is empty or has another shape`);
  }
  const line = new Line(parsed);
  checkForm(line);
  return line;
}

function checkForm(line) {
  const { form } = line;
  need(new Set(line.names).size === line.names.length, "member", "a name stands in two places");
  const isPlaced = line.names.includes("meta") && !Object.hasOwn(line.blobs, "meta");
  need(form === "bare" || isPlaced, "member", "meta is absent or a blob");
  need((line.seed !== null) === (form === "full"), "member", `a ${form} line with or without a seed`);
  const salted = form === "partial" ? [...line.disclosed].sort() : [];
  const isSalted = JSON.stringify(Object.keys(line.salts).sort()) === JSON.stringify(salted);
  need(isSalted, "member", `the salts do not fit a ${form} line`);
}

// ---- Section 6, 9.2: names and meta ---------------------------------------------------------------------------------

const isName = matching(/^(meta|(personal|content|local)\.[a-z][a-z0-9_]{0,39})$/);
const isWord = matching(/^[a-z][a-z0-9_]{0,47}$/);
const isTime = matching(/^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z$/);
const isDidKey = matching(/^did:key:z[1-9A-HJ-NP-Za-km-z]{40,60}$/);
const isText = (value) => matching(/^[A-Za-z0-9][A-Za-z0-9._:/@#~+-]{0,199}$/)(value) && !value.includes("..");

function fitsMeta(value, depth) {
  if (Array.isArray(value)) return depth <= MAX_META_DEPTH && value.every((item) => fitsMeta(item, depth + 1));
  if (isObject(value)) {
    const isFlat = depth <= MAX_META_DEPTH && Object.keys(value).every(isText);
    return isFlat && Object.values(value).every((item) => fitsMeta(item, depth + 1));
  }
  return typeof value === "boolean" || isInteger(value) || isText(value);
}

const HEAD = { session: isSid, size: isCount, root: isHash };
const LEDGER = {
  store_start: { key: isDidKey },
  session_head: HEAD,
  erasure: { session: isSid, n: isCount, entry: isHash, names: listOf(isName) },
  retention: { action: (value) => typeof value === "string" },
  key_add: { key: isDidKey },
  key_retire: { key: isDidKey },
};
const RETENTION = {
  drop_content: { session: isSid, from: isCount, to: isCount, names: listOf(isName) },
  drop_session: HEAD,
};

function ledgerMembers(meta) {
  const has = (table, name) => typeof name === "string" && Object.hasOwn(table, name);
  const shapes = has(LEDGER, meta.type) ? LEDGER[meta.type] : {};
  const isKnown = meta.type === "retention" && has(RETENTION, meta.action);
  return isKnown ? { ...shapes, ...RETENTION[meta.action] } : shapes;
}

function checkMeta(meta, isLedger) {
  need(isObject(meta), "class", "meta is not an object");
  need(Object.keys(meta).every(isWord) && fitsMeta(meta, 1), "class", "meta holds what belongs into content.meta");
  const shapes = { type: isWord, recorded: isTime };
  if ("ts" in meta) shapes.ts = isTime;
  Object.assign(shapes, isLedger ? ledgerMembers(meta) : { source: isText });
  for (const [member, shape] of Object.entries(shapes)) {
    need(shape(meta[member]), "class", `meta has no ${member} or a malformed one`);
  }
}

// ---- Section 8: blobs -----------------------------------------------------------------------------------------------

function findBlob(folders, digest) {
  return folders.map((folder) => path.join(folder, digest.slice(0, 2), digest)).find(isFile);
}

function checkBlob(file, name, about, salt) {
  const descriptor = fs.openSync(file, "r");
  try {
    const { size } = fs.fstatSync(descriptor);
    need(size === about.size, "blob", `${name}: ${size} bytes in the file, ${about.size} in the line`);
    const state = framed("field", [Buffer.from(name), Buffer.from(about.kind), salt], size);
    const buffer = Buffer.allocUnsafe(Math.min(1 << 20, size + 1));
    const kept = [];
    const isParsed = about.kind === "json" && size <= PARSED_BLOB;
    for (let count; (count = fs.readSync(descriptor, buffer, 0, buffer.length, null)) > 0; ) {
      state.update(buffer.subarray(0, count));
      if (isParsed) kept.push(Buffer.from(buffer.subarray(0, count)));
    }
    need(state.digest("hex") === about.commitment, "blob", `${name}: the file does not match its commitment`);
    need(!isParsed || isCanonical(Buffer.concat(kept)), "blob", `${name}: a json blob that is no canonical JSON`);
  } finally {
    fs.closeSync(descriptor);
  }
}

// ---- Section 9.4: notes and keys ------------------------------------------------------------------------------------

function decodeBase64(text) {
  const raw = Buffer.from(text, "base64");
  need(raw.length > 0 && raw.toString("base64") === text, "signature", "malformed base64 in the note");
  return raw;
}

// The bytes of a note, of which at most one more than the limit are read.
function readStart(file) {
  const descriptor = fs.openSync(file, "r");
  try {
    const buffer = Buffer.alloc(MAX_NOTE + 1);
    let size = 0;
    for (let count = 1; count > 0 && size < buffer.length; size += count) {
      count = fs.readSync(descriptor, buffer, size, buffer.length - size, null);
    }
    return buffer.subarray(0, size);
  } finally {
    fs.closeSync(descriptor);
  }
}

function parseNote(raw) {
  need(raw.length <= MAX_NOTE, "limit", `the note is longer than ${MAX_NOTE} bytes`);
  let text;
  try {
    text = UTF8.decode(raw);
  } catch {
    throw new RuleError("signature", "the note is not UTF-8");
  }
  need(!/[\x00-\x09\x0b-\x1f\x7f]/.test(text), "signature", "control characters in the note");
  const lines = text.split("\n");
  const isParted = lines.length > 5 && lines[3] === "" && lines.at(-1) === "";
  need(isParted, "signature", "the note is not three lines, an empty one and signatures");
  const [origin, size] = lines;
  need(/^tallystick\/[0-9a-f]{32}$/.test(origin), "signature", "the note is not a head of a store");
  need(/^(0|[1-9][0-9]{0,18})$/.test(size), "signature", "the size in the note is malformed");
  need(lines.length <= 5 + 64, "signature", "more than 64 signatures");
  const root = decodeBase64(lines[2]);
  need(root.length === 32, "signature", "the root in the note is not 32 bytes");
  const signatures = lines.slice(4, -1).map((line) => {
    const parts = /^\u2014 ([^\p{White_Space}+]+) ([A-Za-z0-9+/=]+)$/u.exec(line);
    need(parts !== null, "signature", "a malformed signature line");
    const blob = decodeBase64(parts[2]);
    need(blob.length > 4, "signature", "a signature that is too short");
    return { name: parts[1], id: blob.subarray(0, 4), signature: blob.subarray(4) };
  });
  const signed = Buffer.from(`${lines.slice(0, 3).join("\n")}\n`);
  return { origin, store: origin.slice(11), size: BigInt(size), root, signatures, signed };
}

const BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

// The 32 bytes of the Ed25519 key that a did:key names; null if it names none.
function parseDidKey(did) {
  if (!isDidKey(did) || did.startsWith("did:key:z1")) return null;
  let value = 0n;
  for (const digit of did.slice(9)) value = value * 58n + BigInt(BASE58.indexOf(digit));
  const hex = value.toString(16);
  return hex.length === 68 && hex.startsWith("ed01") ? Buffer.from(hex.slice(4), "hex") : null;
}

const P = 2n ** 255n - 19n;
const Y_OF_ORDER_8 = 2707385501144840649318225287225658788936804267575313519463743609750303402022n;
const LOW_ORDER = new Set([0n, 1n, P - 1n, Y_OF_ORDER_8, P - Y_OF_ORDER_8]);

// The y of an encoded point, not reduced.
function yOf(encoded) {
  return BigInt(`0x${Buffer.from(encoded).reverse().toString("hex")}`) % 2n ** 255n;
}

// 9.4, 19.4: by RFC 8032, once keys and R of low order, and keys in another encoding than theirs, are refused.
function verifies(key, signature, text) {
  if (signature.length !== 64) return false;
  const [ofKey, ofR] = [yOf(key), yOf(signature.subarray(0, 32))];
  if (LOW_ORDER.has(ofKey % P) || LOW_ORDER.has(ofR % P) || ofKey >= P || ofR >= P) return false;
  const jwk = { kty: "OKP", crv: "Ed25519", x: key.toString("base64url") };
  try {
    return verifySignature(null, text, createPublicKey({ key: jwk, format: "jwk" }), signature);
  } catch {
    return false; // not a point
  }
}

// Whether one of the keys has signed; a signature by one of them that fails refuses the note.
function isSigned(note, keys) {
  let isOurs = false;
  for (const { name, id, signature } of note.signatures) {
    if (name !== note.origin) continue;
    const known = keys.filter((key) => sha256(name, "\n\x01", key).subarray(0, 4).equals(id));
    if (known.length === 0) continue;
    const isGood = known.some((key) => verifies(key, signature, note.signed));
    need(isGood, "signature", "the signature of a known key fails");
    isOurs = true;
  }
  return isOurs;
}

// ---- Section 9.2, 12: what the ledger says --------------------------------------------------------------------------

class Facts {
  constructor(entries) {
    this.heads = new Map(); // by session: [size, root in hex]
    this.dropped = new Set();
    this.erased = new Map(); // names, by session, n and entry
    this.cleared = new Map(); // by session: what drop_content said
    this.keys = new Set(); // did:key
    this.fallen = []; // n of heads that are smaller than one before
    for (const [n, meta] of entries) this.#add(n, meta);
  }

  #add(n, meta) {
    const { type, session } = meta;
    if (type === "store_start" || type === "key_add") this.keys.add(meta.key);
    if (type === "key_retire") this.keys.delete(meta.key);
    if (type === "session_head") {
      if (meta.size < this.covered(session)) this.fallen.push(n);
      else this.heads.set(session, [...(this.heads.get(session) ?? []), [meta.size, meta.root]]);
    }
    if (type === "erasure") {
      const place = `${session} ${meta.n} ${meta.entry}`;
      this.erased.set(place, new Set([...(this.erased.get(place) ?? []), ...meta.names]));
    }
    if (type === "retention" && meta.action === "drop_content") {
      this.cleared.set(session, [...(this.cleared.get(session) ?? []), meta]);
    }
    if (type === "retention" && meta.action === "drop_session") this.dropped.add(session);
  }

  covered(sid) {
    return this.heads.get(sid)?.at(-1)[0] ?? 0;
  }

  erases(sid, n, digest, name) {
    return this.erased.get(`${sid} ${n} ${digest}`)?.has(name) ?? false;
  }

  releases(sid, n, digest, name) {
    const spans = this.cleared.get(sid) ?? [];
    const isCleared = spans.some((span) => span.from <= n && n <= span.to && span.names.includes(name));
    return isCleared || this.erases(sid, n, digest, name);
  }
}

// ---- Section 14.2: one journal --------------------------------------------------------------------------------------

const LEVELS = {
  none: (line) => line.disclosed.length > 0 && !line.disclosed.some((name) => name.startsWith("local.")),
  content: (line) => line.disclosed.length === 1 && line.disclosed[0] === "meta",
  full: (line) => line.form === "bare",
};

class Journal {
  constructor(kind, sid, blobs, facts, level = null) {
    Object.assign(this, { kind, sid, blobs, facts, level });
    this.isLedger = kind === "ledger";
    this.lines = 0;
    this.torn = 0;
    this.hashes = [];
    this.seen = new Set();
    this.seeds = new Set();
    this.foreign = []; // parents elsewhere: [n, session, hash]
    this.metas = []; // of a ledger: [n, meta]
    this.withheld = 0;
    this.erased = 0;
    this.absent = 0;
    this.hasEnded = false;
    this.lastType = "";
    this.completeness = "truncated";
    this.authenticity = "unsigned";
    this.sealed = 0; // entries under a head that is signed
    this.covered = 0; // entries that a head states, signed or not
    this.defects = [];
    this.path = null;
  }

  blame(n, rule, why) {
    this.defects.push({ session: this.sid, n, rule, why });
  }

  get bad() {
    const place = ({ n, rule }) => [n ?? -1, RULES.indexOf(rule)];
    return this.defects.toSorted((a, b) => place(a)[0] - place(b)[0] || place(a)[1] - place(b)[1])[0] ?? null;
  }

  get steps() {
    return this.bad === null ? this.hashes.length : Math.min(this.hashes.length, this.bad.n ?? 0);
  }

  read(file) {
    this.path = file;
    for (const [raw, torn] of readLines(file)) {
      this.torn = torn;
      if (torn > 0) continue;
      if (this.defects.length === 0) this.#take(raw);
      this.lines++;
    }
  }

  #take(raw) {
    const n = this.hashes.length;
    try {
      const line = parseLine(raw);
      this.#checkChain(line.entry, n);
      this.#checkClass(line, n);
      const hash = entryHash(line.entry);
      const digest = hash.toString("hex");
      const absent = this.#checkValues(line, n, digest);
      this.#checkParents(line.entry, n);
      need(line.seed === null || !this.seeds.has(line.seed), "seed", "an earlier entry has the same seed");
      const meta = isObject(line.fields.meta) ? line.fields.meta : NONE;
      this.#checkOrder(meta, n);
      this.#checkWithheld(line, n, digest);
      this.#accept(line, n, hash, digest, meta);
      this.absent += absent;
    } catch (error) {
      if (!(error instanceof RuleError)) throw error;
      this.blame(n, error.rule, error.message);
    }
  }

  #checkChain(entry, n) {
    this.sid ??= entry.sid;
    need(entry.sid === this.sid, "sid", "the entry is of another session than its file");
    need(entry.n === n, "n", `the entry says ${entry.n} where ${n} is due`);
    const prev = n > 0 ? this.hashes[n - 1] : tagged("genesis", Buffer.from(entry.sid, "ascii"));
    need(entry.prev === prev.toString("hex"), "prev", "prev is not the hash of the entry before");
  }

  #checkClass(line, n) {
    need(line.names.every(isName), "class", "a name is of none of the four classes");
    if ("meta" in line.fields) {
      const { meta } = line.fields;
      if (this.kind === "lone" && n === 0) this.isLedger = isObject(meta) && meta.type === "store_start";
      checkMeta(meta, this.isLedger);
    }
    if (this.level !== null) need(LEVELS[this.level](line), "class", `does not belong into level ${this.level}`);
  }

  #checkValues(line, n, digest) {
    let absent = 0;
    const commitments = new Map();
    for (const [name, hash] of Object.entries(line.withheld)) commitments.set(name, Buffer.from(hash, "hex"));
    for (const name of Object.keys(line.blobs).sort()) {
      const about = line.blobs[name];
      commitments.set(name, Buffer.from(about.commitment, "hex"));
      const file = findBlob(this.blobs, about.commitment);
      if (file !== undefined) checkBlob(file, name, about, line.salt(name));
      else {
        const isFree = this.kind === "lone" || this.facts.releases(this.sid, n, digest, name);
        need(isFree, "blob", `the file of ${name} is absent, and no sealed erasure covers it`);
        absent++;
      }
    }
    for (const [name, value] of Object.entries(line.fields)) {
      const parts = [Buffer.from(name), Buffer.from("json"), line.salt(name), canonical(value)];
      commitments.set(name, tagged("field", ...parts));
    }
    const isSame = commitments.size === 0 || fieldsHash(commitments).toString("hex") === line.entry.fields;
    need(isSame, "fields", "the values are not those that were sealed");
    return absent;
  }

  #checkParents(entry, n) {
    need(new Set(entry.parents).size === entry.parents.length, "parent", "a parent is listed twice");
    const foreign = [];
    for (const parent of entry.parents) {
      const [sid, digest] = parent.includes("#") ? parent.split("#") : [null, parent];
      need(sid !== null || this.seen.has(digest), "parent", "a parent is no earlier entry");
      need(sid !== this.sid, "parent", "a parent of this session in the form for another");
      if (sid !== null) foreign.push([n, sid, digest]);
    }
    this.foreign.push(...foreign);
  }

  #checkOrder(meta, n) {
    const kind = meta.type ?? "";
    const start = this.isLedger ? "store_start" : "session_start";
    need(n > 0 || kind === "" || kind === start, "order", `entry 0 is not ${start}`);
    const isResumed = kind === "session_start" && meta.resumed === true;
    const mayFollow = !this.hasEnded || isResumed || kind === "" || kind === "recovery";
    need(mayFollow, "order", "a step after session_end");
  }

  #checkWithheld(line, n, digest) {
    if (this.kind === "lone") return;
    need("meta" in line.fields, "withheld", "meta is not shown");
    for (const name of Object.keys(line.withheld)) {
      const isFree = this.facts.releases(this.sid, n, digest, name);
      need(isFree, "withheld", `${name} is withheld, and no sealed erasure covers it`);
    }
  }

  #accept(line, n, hash, digest, meta) {
    const kind = meta.type ?? "";
    this.hasEnded = kind === "session_end" || (this.hasEnded && kind === "recovery");
    this.lastType = kind;
    this.hashes.push(hash);
    this.seen.add(digest);
    if (line.seed !== null) this.seeds.add(line.seed);
    const withheld = Object.keys(line.withheld);
    this.withheld += withheld.length;
    this.erased += withheld.filter((name) => this.facts.erases(this.sid, n, digest, name)).length;
    if (this.isLedger && Object.keys(ledgerMembers(meta)).length > 0) this.metas.push([n, meta]);
  }

  row() {
    return {
      session: this.sid,
      steps: this.steps,
      integrity: this.bad?.rule ?? "intact",
      completeness: this.completeness,
      unsealed: Math.max(0, this.steps - this.sealed),
      authenticity: this.authenticity,
    };
  }
}

// 19.5: the hashes of the entries in a file that can be read, whatever else is wrong with it.
function entriesOf(file) {
  const found = new Set();
  for (const [raw] of readLines(file)) {
    if (raw === null || depthOf(raw) > MAX_DEPTH) continue;
    try {
      const line = parseJson(raw);
      if (isObject(line) && isEntry(line.entry)) found.add(entryHash(line.entry).toString("hex"));
    } catch (error) {
      if (!(error instanceof RuleError)) throw error;
    }
  }
  return found;
}

// ---- Section 19.8: epochs -------------------------------------------------------------------------------------------

const EPOCH = {
  epoch: whole(1),
  size: isCount,
  root: isHash,
  key: (value) => isDidKey(value) && parseDidKey(value) !== null,
  began: isTime,
  ended: isTime,
  seconds: whole(1),
  signature: matching(/^[0-9a-f]{128}$/),
};
const MAX_FIRST_KEYS = 8;

function isEpoch(meta) {
  return meta.type === "key_add" && Object.keys(EPOCH).every((name) => EPOCH[name](meta[name]));
}

// ---- Section 14: the verdict ----------------------------------------------------------------------------------------

class Store {
  constructor(root, pinned, remembered) {
    Object.assign(this, { root, pinned });
    this.blobs = [path.join(root, "blobs")];
    this.note = null; // the head beside the ledger, if it covers it
    this.isStrange = false; // whether a key that is not known signed it
    this.following = new Map(pinned === null ? [] : [[pinned.toString("hex"), -1]]);
    this.#checkLedger(remembered);
    this.#checkSessions();
    this.#checkForeignParents();
  }

  #checkLedger(remembered) {
    const file = path.join(this.root, "ledger.jsonl");
    const note = path.join(this.root, "heads", "ledger.note");
    const notes = [];
    if (look(note) !== null) notes.push(["the note", readStart(note)]);
    if (remembered !== null) notes.push(["the remembered note", remembered]);
    this.ledger = new Journal("ledger", null, this.blobs, new Facts([]));
    if (look(file) !== null) this.ledger.read(file);
    this.tree = new Tree(this.ledger.hashes);
    this.#checkEpochs();
    for (const [what, raw] of notes) this.#checkNote(what, raw);
    const size = this.note === null ? this.ledger.lines : Number(this.note.size);
    this.sealed = new Facts(this.ledger.metas.filter(([n]) => n < size));
    for (const n of this.sealed.fallen) this.ledger.blame(n, "head", "a head smaller than one before of its session");
  }

  // 19.8. The first end that does not hold is a defect; none after it is looked at.
  #checkEpochs() {
    let [last, row, most] = [null, null, 0];
    for (const [n, meta] of this.ledger.metas) {
      if (!isEpoch(meta)) continue;
      const parts = [meta.epoch, meta.size, meta.root, meta.key, meta.began, meta.ended, meta.seconds];
      const text = Buffer.from([`tallystick/${this.ledger.sid}/epoch`, ...parts].map((part) => `${part}\n`).join(""));
      const isFirst = meta.epoch === 1;
      const known = [...(row === null ? [] : [row]), ...(isFirst ? this.#named(n).slice(-MAX_FIRST_KEYS) : [])];
      const signer = known.find((key) => verifies(key, Buffer.from(meta.signature, "hex"), text));
      const isNext = last !== null && meta.epoch === last.epoch + 1 && meta.began === last.ended;
      if (!(isFirst || isNext) || signer === undefined || meta.ended < meta.began) {
        return this.ledger.blame(n, "signature", "an epoch does not follow");
      }
      const isFit = meta.size === 0 || (most <= meta.size && meta.size <= n);
      if (!isFit || this.tree.root(meta.size).toString("hex") !== meta.root) {
        return this.ledger.blame(n, "head", "the ledger is not what it was when an epoch ended");
      }
      [last, row, most] = [meta, parseDidKey(meta.key), Math.max(most, meta.size)];
      const [from, to] = [signer.toString("hex"), row.toString("hex")];
      if (this.following.has(from) && !this.following.has(to)) this.following.set(to, n);
    }
  }

  // The keys that the entries below `n` name and do not retire.
  #named(n) {
    const dids = [...new Facts(this.ledger.metas.filter(([at]) => at < n)).keys];
    return dids.map(parseDidKey).filter((key) => key !== null);
  }

  // 19.4: the keys that count for a head of this size.
  #known(size) {
    const most = size > 1n ? size : 1n;
    if (this.pinned === null) return this.#named(most);
    return [...this.following].filter(([, n]) => n < most).map(([key]) => Buffer.from(key, "hex"));
  }

  #checkNote(what, raw) {
    const { ledger } = this;
    let note;
    let isOurs;
    try {
      note = parseNote(raw);
      need(ledger.sid === null || note.store === ledger.sid, "signature", `${what} is of another store`);
      ledger.sid = note.store;
      ledger.covered = Math.max(ledger.covered, Number(note.size));
      isOurs = isSigned(note, this.#known(note.size));
    } catch (error) {
      if (!(error instanceof RuleError)) throw error;
      return ledger.blame(null, error.rule, `${what}: ${error.message}`);
    }
    const isWhole = BigInt(ledger.hashes.length) >= note.size;
    const size = Number(note.size);
    const isBorneOut = isWhole && this.tree.root(size).equals(note.root);
    const isStrange = !isOurs && (this.pinned !== null || isWhole);
    if (isStrange) ledger.blame(null, "signature", `${what} is not signed by a known key`);
    if (BigInt(ledger.lines) < note.size) ledger.blame(ledger.lines, "cut", `${what} covers ${size} entries`);
    else if (isWhole && !isBorneOut) ledger.blame(size > 0 ? size - 1 : null, "head", `${what} states another root`);
    if (what === "the note") {
      this.isStrange = isStrange;
      if (isOurs && isBorneOut) this.note = note;
    }
    return undefined;
  }

  #checkSessions() {
    const files = findJournals(path.join(this.root, "journals"));
    const sids = new Set([...files.keys(), ...this.sealed.heads.keys(), ...this.sealed.dropped]);
    this.sessions = [...sids].sort().map((sid) => this.#checkSession(sid, files.get(sid) ?? []));
  }

  #checkSession(sid, files) {
    const journal = new Journal("session", sid, this.blobs, this.sealed);
    journal.covered = this.sealed.covered(sid);
    if (this.isStrange) journal.authenticity = "wrong key";
    else if (this.note !== null && this.sealed.heads.has(sid)) {
      journal.authenticity = "signed";
      journal.sealed = journal.covered;
    }
    if (files.length === 1) this.#checkJournal(journal, files[0]);
    else if (files.length > 1) journal.blame(0, "sid", `${files.length} files have the name of this session`);
    else if (this.sealed.dropped.has(sid)) journal.completeness = "dropped";
    else {
      journal.completeness = "missing";
      journal.blame(null, "missing", "heads name this session, and its journal is not there");
    }
    return journal;
  }

  #checkJournal(journal, file) {
    journal.read(file);
    const tree = new Tree(journal.hashes);
    for (const [size, root] of this.sealed.heads.get(journal.sid) ?? []) {
      const isOther = size <= journal.hashes.length && tree.root(size).toString("hex") !== root;
      if (isOther) journal.blame(Math.max(0, size - 1), "head", `the head of size ${size} has another root`);
    }
    if (journal.lines < journal.covered) {
      journal.completeness = "cut";
      journal.blame(journal.lines, "cut", `a head covers ${journal.covered} entries, ${journal.lines} are there`);
    } else if (journal.bad === null && journal.lastType === "session_end" && journal.lines <= journal.sealed) {
      journal.completeness = "sealed";
    }
  }

  // 14.4, 19.5.
  #checkForeignParents() {
    const known = new Map();
    const entries = (sid) => {
      const target = this.sessions.find((session) => session.sid === sid);
      if (!known.has(sid)) known.set(sid, target?.path ? entriesOf(target.path) : new Set());
      return known.get(sid);
    };
    for (const journal of [this.ledger, ...this.sessions]) {
      const lost = journal.foreign.find(([, sid, digest]) => !this.sealed.dropped.has(sid) && !entries(sid).has(digest));
      if (lost === undefined) continue;
      journal.blame(lost[0], "parent", "a parent is no entry of the session it names");
      if (journal.completeness === "sealed") journal.completeness = "truncated";
    }
  }

  get authenticity() {
    if (this.isStrange) return "wrong key";
    if (this.note === null) return "unsigned";
    return this.sessions.every((session) => session.authenticity === "signed") ? "signed" : "partly signed";
  }
}

// ---- Section 20: the report -----------------------------------------------------------------------------------------

const WORST_FIRST = ["missing", "cut", "truncated", "dropped", "sealed"];

function report({ ledger = null, sessions, authenticity, level, require }) {
  const journals = ledger === null ? sessions : [ledger, ...sessions];
  const bad = journals.filter((journal) => journal.bad !== null);
  const defects = bad.map((journal) => journal.bad);
  const found = new Set(sessions.map((session) => session.completeness));
  if (ledger?.bad?.rule === "cut") found.add("cut");
  const worst = WORST_FIRST.find((each) => found.has(each)) ?? "sealed";
  const isMet = { A1: true, A2: level === "A2", sealed: worst === "sealed" || worst === "dropped" }[require];
  const isTampered = bad.some((journal) => !isMalformed(journal.bad, journal.covered));
  const code = isTampered ? 2 : 4;
  const sum = (count) => sessions.reduce((total, session) => total + count(session), 0);
  return {
    exit: defects.length > 0 ? code : isMet ? 0 : 3,
    valid: defects.length === 0,
    truncated: worst === "truncated",
    steps: sum((session) => session.steps),
    integrity: defects[0]?.rule ?? "intact",
    completeness: worst,
    unsealed: sum((session) => session.row().unsealed),
    authenticity,
    level,
    why_not_higher: level === "A2" ? "A3 to A5 are not checked by this file" : "no head of a known key covers it",
    disclosure: {
      withheld: sum((session) => session.withheld),
      erased: sum((session) => session.erased),
      absent_blobs: sum((session) => session.absent),
    },
    first_bad: defects[0] ?? null,
    defects,
    sessions: sessions.map((session) => session.row()),
    remarks: journals.filter((journal) => journal.torn > 0).map(({ sid, torn }) => `${sid}: ${torn} bytes of a torn line`),
  };
}

// 19.9: the report on a store of which nothing is read.
function notRead(found) {
  const empty = report({ sessions: [], authenticity: "unsigned", level: "A1", require: "A1" });
  const defects = found.map(([session, why]) => ({ session, n: null, rule: "missing", why }));
  const said = { exit: 2, valid: false, integrity: "missing", completeness: "missing" };
  return { ...empty, ...said, first_bad: defects[0], defects };
}

function couldNotRun(why) {
  const empty = report({ sessions: [], authenticity: "unsigned", level: "A1", require: "A1" });
  const unknown = { integrity: "unknown", completeness: "unknown", authenticity: "unknown" };
  return { ...empty, ...unknown, exit: 1, valid: false, why_not_higher: String(why), remarks: [String(why)] };
}

const PARTS = ["ledger.jsonl", "journals", "heads/ledger.note"];

function verifyStore(root, pinned, remembered, require) {
  const found = strangers(root);
  if (found.length > 0) return notRead(found);
  const store = new Store(root, pinned, remembered);
  const { ledger, sessions, authenticity } = store;
  return report({ ledger, sessions, authenticity, level: store.note === null ? "A1" : "A2", require });
}

function verifyLone(file, require, redaction) {
  const name = path.basename(file, ".jsonl");
  const folder = path.dirname(file);
  const folders = [path.join(folder, "blobs"), path.join(folder, "../../../blobs")];
  const journal = new Journal("lone", isSid(name) ? name : null, folders, new Facts([]), redaction);
  journal.read(file);
  if (journal.lines === 0) journal.blame(0, "line", "not one complete line");
  return report({ sessions: [journal], authenticity: "unsigned", level: "A1", require });
}

// The report on a store or a lone journal. Nothing but a fault of this program is thrown.
export function verify(target, { pinned = null, remembered = null, require = null, redaction = null } = {}) {
  const key = pinned === null ? null : parseDidKey(pinned);
  const isKey = key !== null && !LOW_ORDER.has(yOf(key) % P) && yOf(key) < P;
  if (pinned !== null && !isKey) return couldNotRun("the pinned key is no Ed25519 did:key");
  if (![null, "A1", "A2", "sealed"].includes(require)) return couldNotRun("no such level");
  if (redaction !== null && !Object.hasOwn(LEVELS, redaction)) return couldNotRun("no such level");
  try {
    const status = look(target, true);
    const note = remembered === null ? null : readStart(remembered);
    const isStore = note !== null || PARTS.some((part) => look(path.join(target, part)) !== null);
    if (status?.isDirectory() && isStore) return verifyStore(target, key, note, require ?? "A2");
    if (status?.isFile()) return verifyLone(target, require ?? "A1", redaction);
    return couldNotRun("neither a store nor a journal is there");
  } catch (error) {
    if (error.syscall === undefined) throw error;
    return couldNotRun(error.message);
  }
}

// ---- The command ----------------------------------------------------------------------------------------------------

const USAGE = "usage: verify.mjs PATH [--pinned DID] [--remembered NOTE] [--require LEVEL] [--redaction LEVEL]";

async function batch() {
  for await (const request of readline.createInterface({ input: process.stdin })) {
    const { path: target, ...options } = JSON.parse(request);
    process.stdout.write(`${JSON.stringify(verify(target, options))}\n`);
  }
  return 0;
}

async function main(words) {
  if (words[0] === "--batch") return batch();
  const options = {};
  let target = null;
  for (let at = 0; at < words.length; at++) {
    const option = /^--(pinned|remembered|require|redaction)$/.exec(words[at])?.[1];
    if (option !== undefined && at + 1 < words.length) options[option] = words[++at];
    else if (target === null && !words[at].startsWith("--")) target = words[at];
    else target = undefined;
  }
  if (typeof target !== "string") {
    process.stderr.write(`${USAGE}\n`);
    return 64; // 2 means tampering
  }
  const found = verify(target, options);
  process.stdout.write(`${JSON.stringify(found, null, 2)}\n`);
  return found.exit;
}

process.exitCode = await main(process.argv.slice(2));
