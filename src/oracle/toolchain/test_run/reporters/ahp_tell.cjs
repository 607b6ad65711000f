// Tells `ahp` what becomes of a run, through a pipe: what was told once, nobody takes back. Only who has the seal is believed
// that anything went well; it is taken out of the environment, so that no test finds it there.
'use strict';
const { closeSync, openSync, writeFileSync, writeSync } = require('node:fs');
const { createHash } = require('node:crypto');
const path = require('node:path');

// Where it is kept for a runner that loads this file once more in a way of its own.
const kept = Symbol.for('ahp.seal');
let seal = process[kept];

// Takes the seal, where this process is the one that reports; whether it is.
function take({ isShared = false } = {}) {
  const [folder, key] = (process.env.AHP_SEAL ?? '').split(':');
  if (key && folder === path.basename(__dirname)) {
    seal = key;
    if (isShared) process[kept] = key;
    delete process.env.AHP_SEAL;
  }
  return Boolean(seal);
}

// Lets the processes that this one starts know that they are part of its run.
function leads(name) {
  process.env.AHP_PART = `${path.basename(__dirname)}:${name}`;
}

// Returns the run that this process is part of. What it starts itself belongs to what is tested.
function above() {
  const [folder, name] = (process.env.AHP_PART ?? '').split(':');
  if (folder !== path.basename(__dirname)) return undefined;
  delete process.env.AHP_PART;
  return name;
}

// Returns an environment with the seal, for a process that goes on with the run of this one.
function lent(name) {
  const folder = path.basename(__dirname);
  return { ...process.env, AHP_SEAL: `${folder}:${seal}`, AHP_PART: `${folder}:${name}` };
}

function tell(words) {
  // Opened for both, so that nobody waits for a reader.
  const pipe = openSync(path.join(__dirname, 'told'), 'r+');
  writeSync(pipe, `${words.join('\t').replaceAll('\n', ' ').slice(0, 3000)}\n`);
  closeSync(pipe);
}

function begun(name) {
  tell([`${seal} begun ${name}`]);
}

// Tells that a run was one part of several.
function part(name, { index, count } = {}) {
  if (count > 1) tell([`${seal} part ${name} ${index}/${count}`]);
}

// Tells a file of tests that ran.
const place = (file) => tell([`${seal} place`, file]);

// Returns the part that options name by `1/2`.
function partOf(option, words) {
  const at = words.findIndex((word) => word === option || word.startsWith(`${option}=`));
  const value = at < 0 ? '' : words[at].slice(option.length + 1) || words[at + 1];
  const [index, count] = String(value).split('/').map(Number);
  return { index, count };
}

function report(name, text) {
  writeFileSync(path.join(__dirname, name), text);
  tell([`${seal} sealed ${name} ${createHash('sha256').update(text).digest('hex')}`]);
}

// What is bad news, anybody may tell.
const cut = (file, how) => tell(['- cut', file, how]);
const replaced = (what, value) => tell(['- replaced', what, process.cwd(), value]);

// Keeps what functions an object has, and tells later which of them were replaced, with the file that did it.
function watch(called, object) {
  const names = Object.getOwnPropertyNames(object).filter((name) => typeof Object.getOwnPropertyDescriptor(object, name).value === 'function');
  const before = new Map(names.map((name) => [name, object[name]]));
  return () => {
    for (const [name, value] of before) {
      if (object[name] !== value && typeof object[name] === 'function') {
        const file = fileOf(object[name]);
        if (file) replaced(`${called}${name}`, file);
      }
    }
  };
}

// Returns the file that a function stands in.
function fileOf(value) {
  const { Session } = require('node:inspector');
  const { fileURLToPath } = require('node:url');
  const session = new Session();
  const scripts = new Map();
  let file;
  try {
    session.connect();
    session.on('Debugger.scriptParsed', ({ params }) => scripts.set(params.scriptId, params.url));
    session.post('Debugger.enable');
    globalThis[fileOf.key] = value;
    session.post('Runtime.evaluate', { expression: `globalThis['${fileOf.key}']` }, (_, { result }) => {
      session.post('Runtime.getProperties', { objectId: result.objectId }, (_, { internalProperties }) => {
        const place = internalProperties?.find(({ name }) => name === '[[FunctionLocation]]');
        file = scripts.get(place?.value?.value?.scriptId);
      });
    });
  } catch {
    return undefined;
  } finally {
    delete globalThis[fileOf.key];
    session.disconnect();
  }
  return file?.startsWith('file:') ? fileURLToPath(file) : file;
}
fileOf.key = '__ahp_function';

module.exports = { above, begun, cut, leads, lent, part, partOf, place, replaced, report, take, watch };
