// Options: each is checked where it is given, so that a mistake is told there and not at an event.

import { isAbsolute, sep } from 'node:path';
import { inspect } from 'node:util';

/** The bounds of `timeout`, in seconds. `ahp` is told it in thousandths. */
const SHORTEST = 0.01;
const LONGEST = 3600;

/** Takes an object that has no other members than these: a name that is misspelt would be an option that is not in force. */
export function known(of, given, names) {
  const expected = `the options of ${of} are an object with ${names.map((name) => `\`${name}\``).join(', ')}`;
  if (given === null || typeof given !== 'object' || Array.isArray(given)) {
    throw new TypeError(`${expected}; given: ${shown(given)}`);
  }
  const other = Object.keys(given).find((name) => !names.includes(name));
  if (other !== undefined) throw new TypeError(`${of} has no option \`${other}\`: ${expected}`);
  return given;
}

/** Returns a number of seconds. */
export function timeoutOf(given) {
  const expected = `\`timeout\` is a number of seconds from ${SHORTEST} to ${LONGEST}; given: ${shown(given)}`;
  if (typeof given !== 'number') throw new TypeError(expected);
  if (!(given >= SHORTEST && given <= LONGEST)) throw new RangeError(expected);
  return given;
}

/** Returns one of some words. */
export function oneOf(name, given, words) {
  const expected = `\`${name}\` is ${words.map(shown).join(' or ')}; given: ${shown(given)}`;
  if (typeof given !== 'string') throw new TypeError(expected);
  if (!words.includes(given)) throw new RangeError(expected);
  return given;
}

/** Returns a path from the root: the child starts later, and the working directory may be another then. */
export function pathOf(name, given) {
  const expected = `\`${name}\` is a path as text; given: ${shown(given)}`;
  if (typeof given !== 'string') throw new TypeError(expected);
  if (given === '' || given.includes('\0')) throw new RangeError(expected);
  return pathFromRoot(given);
}

/** Resolves a relative path. `..` is kept: behind a symbolic link it means another directory than the text says. */
export function pathFromRoot(path) {
  return isAbsolute(path) ? path : process.cwd() + sep + path;
}

/** Returns a path from the root, or a bare name, which is looked for on PATH. */
export function programOf(given) {
  if (given === undefined) return undefined;
  const path = pathOf('program', given);
  return given.includes(sep) ? path : given;
}

/** Returns which tool of the vocabulary each tool of a framework is. */
export function toolsOf(of, given) {
  const { tools = {} } = known(of, given, ['tools']);
  const isMap = tools !== null && typeof tools === 'object' && Object.values(tools).every((name) => typeof name === 'string');
  if (!isMap || Array.isArray(tools)) {
    throw new TypeError(`\`tools\` is an object such as {exec: 'Bash'}; given: ${shown(tools)}`);
  }
  return tools;
}

function shown(value) {
  return inspect(value, { depth: 1, breakLength: Infinity, maxStringLength: 100, maxArrayLength: 5 });
}
