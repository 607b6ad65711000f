// Lets jest, vitest and mocha write a report for `ahp` beside what they print. Loaded before them by NODE_OPTIONS, so
// that it works behind `npm test`, `make test` and any other wrapper.
'use strict';
const childProcess = require('node:child_process');
const Module = require('node:module');
const path = require('node:path');
const { isMainThread } = require('node:worker_threads');
const ahp = require('./ahp_tell.cjs');
// Whoever asks for it later gets one that has no seal.
const forget = () => delete require.cache[require.resolve('./ahp_tell.cjs')];

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
  const processor = require(ours);
  const at = process.argv.findIndex((arg) => arg === option || arg.startsWith(`${option}=`));
  if (at > 0) {
    const [first, second] = process.argv.slice(at, at + 2);
    processor.theirs = first === option ? second : first.slice(option.length + 1);
    process.argv.splice(at, first === option ? 2 : 1);
  }
  add(`${option}=${ours}`, '--testLocationInResults');
  whenLoaded(/^jest-config$/, (loaded) => ({
    ...loaded,
    async readConfigs(...args) {
      const read = await loaded.readConfigs(...args);
      const { shard, testSequencer, filter } = read.globalConfig;
      if (shard) ahp.part(me, { index: shard.shardIndex, count: shard.shardCount });
      for (const [setting, file] of Object.entries({ testSequencer, filter })) ahp.replaced(`jest's ${setting}`, String(file));
      for (const config of read.configs) {
        for (const setting of ['runner', 'testRunner', 'testEnvironment']) ahp.replaced(`jest's ${setting}`, String(config[setting]));
        for (const [, transformer] of config.transform ?? []) ahp.replaced("jest's transform", transformer);
      }
      const files = read.configs.flatMap(({ setupFiles, setupFilesAfterEnv }) => [...(setupFiles ?? []), ...(setupFilesAfterEnv ?? [])]);
      process.env.AHP_JEST_SETUP = files.join('\x1f');
      const [first, last] = ['ahp_expect', 'ahp_expect_end'].map((name) => path.join(__dirname, 'node_modules', `${name}.cjs`));
      const configs = read.configs.map((config) => ({ ...config, setupFilesAfterEnv: [first, ...(config.setupFilesAfterEnv ?? []), last] }));
      return { ...read, configs };
    },
  }));
}

// Lets what is loaded by such a name be another.
function whenLoaded(wanted, change) {
  const load = Module._load;
  Module._load = function (request, parent) {
    const loaded = load.apply(this, arguments);
    return wanted.test(request) ? (change(loaded, request, parent) ?? loaded) : loaded;
  };
}

// What makes a test of Node's own assertions fail, and what loads them.
function watchAsserting() {
  const assert = require('node:assert');
  return [ahp.watch('assert.', assert), ahp.watch('assert.strict.', assert.strict), ahp.watch('Module.', Module)];
}

// mocha has one reporter only, which may be the user's: the events are heard where they are made.
function mocha(begun) {
  const asserting = watchAsserting();
  const seen = new WeakSet();
  whenLoaded(/(^|\/)runner(\.js)?$/, (loaded, request, parent) => {
    if (loaded?.constants?.EVENT_RUN_END && !Object.hasOwn(loaded.prototype, 'emit')) {
      const file = Module._resolveFilename(request, parent);
      hear(loaded, require(path.join(path.dirname(file), 'runnable.js')), begun, asserting);
    }
  });
  whenLoaded(/(^|\/)mocha(\.js)?$/, (loaded) => {
    const { prototype } = loaded ?? {};
    const ui = prototype?.ui;
    if (typeof ui !== 'function' || seen.has(prototype)) return;
    seen.add(prototype);
    prototype.ui = function (name) {
      if (typeof name === 'string') ahp.replaced("mocha's ui", name);
      return ui.apply(this, arguments);
    };
  });
}

function hear(Runner, Runnable, begun, asserting) {
  const results = [];
  const watched = [ahp.watch('Runner.prototype.', Runner.prototype), ahp.watch('Runnable.prototype.', Runnable.prototype), ...asserting];
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
      ahp.report(`${begun}.json`, JSON.stringify({ collected: this.total, testResults: results }));
      for (const tell of watched) tell();
      // What is registered now runs never.
      const found = this.grepTotal(this.suite);
      process.once('exit', () => {
        if (this.grepTotal(this.suite) > found) ahp.cut(main, 'registered tests after the run had ended');
      });
    }
    return emit.apply(this, arguments);
  };
}

const runners = {
  node: () => ahp.leads(me),
  jest,
  vitest: () => add('--reporter=default', `--reporter=${path.join(__dirname, 'ahp_vitest.mjs')}`),
  mocha() {
    // With options of node's own, mocha runs itself once more.
    const { spawn } = childProcess;
    childProcess.spawn = function (program, words, options) {
      const isMocha = program === process.execPath && words?.some?.((word) => String(word).includes('/mocha/'));
      return isMocha ? spawn.call(this, program, words, { ...options, env: ahp.lent(me) }) : spawn.apply(this, arguments);
    };
    mocha(me);
  },
};

// Its reports are read where they are named, and do not say so themselves.
const ofPlaywright = /[/\\]playwright(-core)?[/\\]/.test(main) ? ahp.partOf('--shard', args) : {};
if (ofPlaywright.count > 1) ahp.cut('playwright', `ran part ${ofPlaywright.index} of ${ofPlaywright.count} alone`);

const above = ahp.above();
if (isMainThread && !args.some((arg) => questions.includes(arg))) {
  if (above === `mocha-${process.ppid}` && main.includes('/mocha/')) {
    ahp.take();
    mocha(above);
  } else if (Object.hasOwn(runners, runner) && ahp.take({ isShared: runner === 'node' || runner === 'vitest' })) {
    if (runner !== 'node') {
      ahp.begun(me);
      // A file of the project may be called like a runner.
      ahp.replaced(`runner.${runner}`, main);
    }
    runners[runner]();
  }
}

if (isMainThread && process.env.NODE_TEST_CONTEXT && above === `node-${process.ppid}`) {
  // A file of tests that ends its own process is a pass for `node --test`, whatever tests were still to come.
  if (!process.execArgv.includes('--test-force-exit')) {
    const exit = process.reallyExit;
    process.reallyExit = (code) => {
      ahp.cut(main, 'ended its own process before its tests were reported');
      exit.call(process, code);
    };
  }
  const watched = watchAsserting();
  process.on('exit', () => watched.forEach((tell) => tell()));
}
forget();
