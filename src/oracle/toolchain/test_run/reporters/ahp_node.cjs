// Lets jest, vitest and mocha write a report for `ahp` beside what they print. Loaded before them by NODE_OPTIONS, so
// that it works behind `npm test`, `make test` and any other wrapper.
'use strict';
const fs = require('node:fs');
const Module = require('node:module');
const path = require('node:path');
const { isMainThread } = require('node:worker_threads');

const named = (begun, end) => path.join(__dirname, `${begun}.${end}`);
const [, main = '', ...args] = process.argv;
const runner = process.execArgv.includes('--test') ? 'node' : path.basename(main).replace(/\.[cm]?js$/, '').replace('_mocha', 'mocha');
const me = `${runner}-${process.pid}`;
const questions = ['--version', '-v', '--help', '-h', '--showConfig', '--clearCache'];

function add(...options) {
  const end = process.argv.indexOf('--');
  process.argv.splice(end < 0 ? process.argv.length : end, 0, ...options);
}

// jest takes one processor of results only: ours hands on to that of the command line.
function jest() {
  const option = '--testResultsProcessor';
  const ours = path.join(__dirname, 'ahp_jest.cjs');
  const at = process.argv.findIndex((arg) => arg === option || arg.startsWith(`${option}=`));
  if (at > 0) {
    const [first, second] = process.argv.slice(at, at + 2);
    require(ours).theirs = first === option ? second : first.slice(option.length + 1);
    process.argv.splice(at, first === option ? 2 : 1);
  }
  add(`${option}=${ours}`, '--testLocationInResults');
}

// mocha has one reporter only, which may be the user's: the events are heard where they are made.
function mocha(begun) {
  const load = Module._load;
  Module._load = function (request) {
    const loaded = load.apply(this, arguments);
    if (/(^|\/)runner(\.js)?$/.test(request) && loaded?.constants?.EVENT_RUN_END && !Object.hasOwn(loaded.prototype, 'emit')) {
      hear(loaded, begun);
    }
    return loaded;
  };
}

function hear(Runner, begun) {
  const results = [];
  const emit = Runner.prototype.emit;
  const note = (test, status, error) => {
    const [title, ...above] = [...test.titlePath()].reverse();
    const failureMessages = error ? [String(error.stack ?? error.message ?? error)] : [];
    results.push({
      name: test.file ?? '',
      assertionResults: [{ ancestorTitles: above.reverse(), title, status, failureMessages }],
    });
  };
  Runner.prototype.emit = function (event, test, error) {
    const isDry = this._opts?.dryRun;
    if (event === 'pass' && !isDry) note(test, 'passed');
    if (event === 'pending') note(test, 'skipped');
    if (event === 'fail') note(test, 'failed', error);
    if (event === 'end') {
      const text = JSON.stringify({ collected: this.total, testResults: results });
      fs.writeFileSync(named(begun, 'json'), text);
    }
    return emit.apply(this, arguments);
  };
}

const runners = {
  node: () => {},
  jest,
  vitest: () => add('--reporter=default', `--reporter=${path.join(__dirname, 'ahp_vitest.mjs')}`),
  mocha: () => mocha(me),
};

const above = process.env.AHP_RUNNER;
if (isMainThread && !args.some((arg) => questions.includes(arg))) {
  if (above && above === `mocha-${process.ppid}` && main.includes('/mocha/')) {
    // With options of node's own, mocha runs itself once more.
    mocha(above);
  } else if (!above && Object.hasOwn(runners, runner)) {
    // A runner that another one runs belongs to what is tested.
    process.env.AHP_RUNNER = me;
    if (runner !== 'node') fs.writeFileSync(named(me, 'started'), '');
    runners[runner]();
  }
}

// A file of tests that ends its own process is a pass for `node --test`, whatever tests were still to come.
if (isMainThread && process.env.NODE_TEST_CONTEXT && !process.execArgv.includes('--test-force-exit')) {
  const exit = process.reallyExit;
  process.reallyExit = (code) => {
    fs.writeFileSync(named(`node-${process.pid}`, 'cut'), main);
    exit.call(process, code);
  };
}
