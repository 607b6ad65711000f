// Engine: asks `ahp` what an agent may do, in a child process that stays.

import { Child } from './child.js';
import { AhpError, AhpUnavailable } from './errors.js';

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

  constructor({ project = '.', timeout = 60, onFailure = 'block', program, answers = 'agent' } = {}) {
    if (!(timeout > 0 && timeout <= 3600)) throw new RangeError('`timeout` is a number of seconds, above 0 and at most 3600');
    if (onFailure !== 'block' && onFailure !== 'raise') throw new RangeError("`onFailure` is 'block' or 'raise'");
    this.timeout = timeout;
    this.#onFailure = onFailure;
    // `ahp` is told nine tenths of the time, so that it answers first.
    const options = ['--project', project, '--timeout', (timeout * 0.9).toFixed(3), '--answers', answers];
    this.#child = new Child(program, options);
  }

  async evaluate(trigger, { tool, input, ...fields } = {}) {
    const event = { trigger, ...fields };
    if (tool !== undefined) event.tool = { name: tool, input: isObject(input) ? input : { value: input ?? null } };
    try {
      return Verdict.of(await this.#call('ahp/evaluate', { event }));
    } catch (error) {
      if (this.#onFailure === 'raise' || !(error instanceof AhpError)) throw error;
      return new Verdict('block', `Blocked, because ahp could not judge this: ${error.message}`);
    }
  }

  async hook(host, payload, { event } = {}) {
    const answer = await this.#call('ahp/hook', event === undefined ? { host, payload } : { host, payload, event });
    if (!isObject(answer.reply)) throw new AhpUnavailable('ahp gave an answer without a reply');
    return answer.reply;
  }

  async respond(signal, action, details = {}, { by = 'agent' } = {}) {
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
