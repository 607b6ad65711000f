// Lets jest, vitest and mocha write a report for `ahp` beside what they print. Loaded before them by NODE_OPTIONS, so
// that it works behind `npm test`, `make test` and any other wrapper.
'use strict';
const fs = require('node:fs');
const path = require('node:path');
const { isMainThread } = require('node:worker_threads');

const named = (kind, end) => path.join(__dirname, `${kind}-${process.pid}.${end}`);
const [, main = '', ...args] = process.argv;
const runner = process.execArgv.includes('--test') ? 'node' : path.basename(main).replace(/\.[cm]?js$/, '');
const options = {
  jest: (file) => ['--json', `--outputFile=${file}`, '--testLocationInResults'],
  vitest: (file) => ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`],
  mocha: (file) => ['--reporter', 'xunit', '--reporter-option', `output=${file}`],
};
const questions = ['--version', '-v', '--help', '-h', '--showConfig', '--clearCache'];

// A runner that another one runs belongs to what is tested.
if (isMainThread && !process.env.AHP_RUNNER && !args.some((arg) => questions.includes(arg))) {
  if (runner === 'node') {
    process.env.AHP_RUNNER = String(process.pid);
  } else if (Object.hasOwn(options, runner)) {
    process.env.AHP_RUNNER = String(process.pid);
    fs.writeFileSync(named(runner, 'started'), '');
    const added = options[runner](named(runner, runner === 'mocha' ? 'xml' : 'json'));
    const end = process.argv.indexOf('--');
    process.argv.splice(end < 0 ? process.argv.length : end, 0, ...added);
  }
}

// A file of tests that ends its own process is a pass for `node --test`, whatever tests were still to come.
if (isMainThread && process.env.NODE_TEST_CONTEXT && !process.execArgv.includes('--test-force-exit')) {
  const exit = process.reallyExit;
  process.reallyExit = (code) => {
    fs.writeFileSync(named('node', 'cut'), main);
    exit.call(process, code);
  };
}
