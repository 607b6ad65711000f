// Engine: asks `ahp` what an agent may do, in a child process that stays.

import { Child } from './child.js';
import { AhpError, AhpUnavailable } from './errors.js';
import { known, oneOf, pathFromRoot, pathOf, programOf, timeoutOf } from './options.js';

export { AhpError, AhpUnavailable, BadEvent, Timeout } from './errors.js';

const DECISIONS = ['none', 'allow', 'ask', 'block'];

/** What an event came to. */
export class Verdict {
  constructor(decision, message = '', modifiedInput = undefined, signals = [], raw = {}) {
    this.decision = decision;
    this.message = message;
    this.modifiedInput = modifiedInput;
    this.signals = signals;
    this.raw = raw;
  }

  get stops() {
    return this.decision === 'block' || this.decision === 'ask';
  }

  static of(answer) {
    if (!DECISIONS.includes(answer.decision)) {
      return new Verdict('block', `ahp gave a decision that this client does not know: ${answer.decision}`, undefined, [], answer);
    }
    const signals = (answer.verdicts ?? []).flatMap((one) => one.verdict.signals ?? []);
    return new Verdict(answer.decision, answer.message ?? '', answer.modified_input ?? undefined, signals, answer);
  }
}

export class Engine {
  #child;
  #onFailure;

  constructor(options = {}) {
    const names = ['project', 'timeout', 'onFailure', 'program', 'answers'];
    const { project = '.', timeout = 60, onFailure = 'block', program, answers = 'agent' } = known('Engine', options, names);
    this.timeout = timeoutOf(timeout);
    this.#onFailure = oneOf('onFailure', onFailure, ['block', 'raise']);
    // `ahp` is told nine tenths of the time, so that it answers first.
    const told = ['--project', pathOf('project', project), '--timeout', (timeout * 0.9).toFixed(3)];
    told.push('--answers', oneOf('answers', answers, ['agent', 'human']));
    this.#child = new Child(programOf(program), told);
  }

  async evaluate(trigger, { tool, input, ...fields } = {}) {
    const event = { trigger, ...fields };
    // Relative to the caller: the child's own directory is the one in which it happened to be started.
    if (typeof event.work_dir === 'string' && event.work_dir) event.work_dir = pathFromRoot(event.work_dir);
    if (tool != null || input !== undefined) {
      // A call without a name is one too: `ahp` stops it.
      event.tool = { name: tool ?? '', input: isObject(input) ? input : { value: input ?? null } };
    }
    try {
      return Verdict.of(await this.#call('ahp/evaluate', { event }));
    } catch (error) {
      if (this.#onFailure === 'raise' || !(error instanceof AhpError)) throw error;
      return new Verdict('block', `Blocked, because ahp could not judge this: ${error.message}`);
    }
  }

  async hook(host, payload, options = {}) {
    const { event } = known('hook', options, ['event']);
    const answer = await this.#call('ahp/hook', event === undefined ? { host, payload } : { host, payload, event });
    if (!isObject(answer.reply)) throw new AhpUnavailable('ahp gave an answer without a reply');
    return answer.reply;
  }

  async respond(signal, action, details = {}, options = {}) {
    const { by = 'agent' } = known('respond', options, ['by']);
    await this.#call('ahp/respond', { signal, action, details, by });
  }

  hello() {
    return this.#call('ahp/hello', {});
  }

  close() {
    this.#child.close();
  }

  [Symbol.dispose ?? Symbol.for('dispose')]() {
    this.close();
  }

  #call(method, params) {
    return this.#child.call(method, params, this.timeout * 1000);
  }
}

function isObject(value) {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}
