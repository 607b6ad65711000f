// Child: the `ahp serve --stdio` behind an engine, and the questions that are under way.

import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { AhpError, AhpUnavailable, BadEvent, Timeout } from './errors.js';
import { findProgram } from './program.js';

/** The version of the methods `ahp/…` that this client speaks. */
const PROTOCOL = 1;
/** The longest request in bytes; `ahp` takes no longer line. */
const MOST_BYTES = 32 << 20;
/** How long calls fail at once after a new child failed too. */
const PAUSE_MS = 5000;
/** How long a new child may take to say hello, where the caller would wait longer. */
const START_MS = 20_000;

/** One running child. It is given up as a whole: a new one takes its place. */
class Process {
  #waiting = new Map();
  #lastId = 0;
  #said = '';
  #why = '';
  #child;
  isOver = false;

  constructor(program, options) {
    this.#child = spawn(program, ['serve', '--stdio', ...options], { stdio: 'pipe' });
    this.#child.on('error', (error) => this.end(`\`${program}\` cannot be started: ${error.message}`));
    this.#child.on('close', () => this.end('`ahp` has ended'));
    // A child that takes no more has ended, or will not answer in time.
    this.#child.stdin.on('error', () => {});
    this.#child.stderr.on('data', (data) => {
      this.#said = (this.#said + data).slice(0, 2000);
    });
    createInterface({ input: this.#child.stdout, crlfDelay: Infinity }).on('line', (line) => this.#take(line));
    this.#rest();
  }

  /** A child that nobody waits for does not keep the program alive. */
  #rest() {
    const streams = [this.#child.stdin, this.#child.stdout, this.#child.stderr];
    const change = this.#waiting.size === 0 ? 'unref' : 'ref';
    this.#child[change]();
    for (const stream of streams) stream[change]?.();
  }

  /** Asks; at the deadline it says that no answer came within so many milliseconds. */
  ask(method, params, deadline, limit) {
    if (this.isOver) return Promise.reject(new AhpUnavailable(this.#why));
    const id = ++this.#lastId;
    let line;
    try {
      line = `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`;
    } catch (error) {
      return Promise.reject(new BadEvent(`not JSON: ${error.message}`));
    }
    if (Buffer.byteLength(line) > MOST_BYTES) {
      return Promise.reject(new BadEvent('the event is longer than 32 MiB'));
    }
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        const error = new Timeout(`no answer within ${limit / 1000} s`);
        this.#settle(id)?.reject(error);
      }, deadline - performance.now());
      this.#waiting.set(id, { resolve, reject, timer });
      this.#rest();
      this.#child.stdin.write(line);
    });
  }

  #settle(id) {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return undefined;
    this.#waiting.delete(id);
    clearTimeout(waiting.timer);
    this.#rest();
    return waiting;
  }

  #take(line) {
    let answer;
    try {
      answer = JSON.parse(line);
    } catch (error) {
      this.end(`what \`ahp\` says cannot be read: ${error.message}`);
      return;
    }
    // A question that could not be read has no number: each that waits may be the one.
    const ids = answer?.id == null ? [...this.#waiting.keys()] : [answer.id];
    for (const id of ids) {
      const waiting = this.#settle(id);
      if (answer?.result != null && typeof answer.result === 'object') waiting?.resolve(answer.result);
      else waiting?.reject(new BadEvent(answer?.error?.message ?? 'the answer has no result'));
    }
  }

  /** Ends the child; whoever waits is told why. */
  end(why, gently = false) {
    if (this.isOver) return;
    this.isOver = true;
    this.#child.stdin.end();
    if (!gently) this.#child.kill('SIGKILL');
    const words = this.#said.trim();
    this.#why = words ? `${why}: ${words}` : why;
    for (const id of [...this.#waiting.keys()]) {
      this.#settle(id)?.reject(new AhpUnavailable(this.#why));
    }
  }
}

/** Starts `ahp serve --stdio` when it is first needed, and once more where it died. */
export class Child {
  #program;
  #options;
  #starting;
  #process;
  #failures = 0;
  #pausedUntil = 0;
  #why = '';
  #isClosed = false;

  constructor(program, options) {
    this.#program = program;
    this.#options = options;
  }

  async call(method, params, timeout) {
    const deadline = performance.now() + timeout;
    const process = await this.#running(timeout);
    try {
      const answer = await process.ask(method, params, deadline, timeout);
      this.#failures = 0;
      return answer;
    } catch (error) {
      if (!(error instanceof BadEvent)) this.#failed(process, error);
      throw error;
    }
  }

  #running(timeout) {
    if (this.#isClosed) return Promise.reject(new AhpUnavailable('this engine is closed'));
    if (this.#process && !this.#process.isOver) return Promise.resolve(this.#process);
    this.#starting ??= this.#start(Math.min(START_MS, timeout)).finally(() => {
      this.#starting = undefined;
    });
    return this.#starting;
  }

  async #start(limit) {
    if (performance.now() < this.#pausedUntil) {
      throw new AhpUnavailable(`\`ahp\` failed twice, so that it is not asked for ${PAUSE_MS / 1000} s: ${this.#why}`);
    }
    let started;
    try {
      const program = this.#program ?? findProgram();
      started = new Process(program, this.#options);
      const hello = await started.ask('ahp/hello', {}, performance.now() + limit, limit);
      if (hello.protocol !== PROTOCOL) {
        throw new AhpUnavailable(`\`${program}\` speaks protocol ${hello.protocol}, and this client ${PROTOCOL}`);
      }
      if (this.#isClosed) throw new AhpUnavailable('this engine is closed');
    } catch (error) {
      started?.end('it did not say hello');
      this.#note(error);
      throw error instanceof AhpError ? error : new AhpUnavailable(error.message);
    }
    this.#process = started;
    return started;
  }

  /** Gives a child up, once for all who waited for it. */
  #failed(process, error) {
    if (this.#process !== process) return;
    this.#process = undefined;
    this.#note(error);
    process.end(error.message);
  }

  #note(error) {
    this.#failures += 1;
    this.#why = error.message;
    if (this.#failures > 1) this.#pausedUntil = performance.now() + PAUSE_MS;
  }

  close() {
    this.#isClosed = true;
    this.#process?.end('this engine is closed', true);
    this.#process = undefined;
  }
}
