// Loaded by jest where the tests of a file run, before the setup files of the project. Tells where `expect`, or a matcher of it,
// is not what it was: after these files (ahp_expect_end.cjs), and when the tests have ended.
'use strict';
const { closeSync, openSync, writeSync } = require('node:fs');
const path = require('node:path');
const { afterAll, expect } = require('@jest/globals');

const current = () => ({ expect: globalThis.expect, ...globalThis[Symbol.for('$$jest-matchers-object')]?.matchers });
let before = current();

function tell(files) {
  const now = current();
  for (const name of Object.keys(before)) {
    if (now[name] === before[name]) continue;
    const what = name === 'expect' ? 'global.expect' : `expect.${name}`;
    // Opened for both, so that nobody waits for a reader.
    const pipe = openSync(path.join(__dirname, '..', 'told'), 'r+');
    writeSync(pipe, `- replaced\t${what}\t${process.cwd()}\t${files}\n`.slice(0, 3000));
    closeSync(pipe);
  }
  before = now;
}

afterAll(() => tell(expect.getState().testPath));

module.exports = { tell };
