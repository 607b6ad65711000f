/** Ask `ahp`, a policy engine between AI coding agents and their work, what an agent may do. */

/** `none` and `allow` let the operation go on; no opinion is not a permission. */
export type Decision = 'none' | 'allow' | 'ask' | 'block';

/** What an event came to. */
export declare class Verdict {
  /** The strongest decision. */
  readonly decision: Decision;
  /** The reasons, the way out of each and how to answer, for an agent to read. */
  readonly message: string;
  /** The tool's input as it is to be; undefined where nothing changes it. */
  readonly modifiedInput: unknown;
  /** Each signal as `ahp` writes it. */
  readonly signals: readonly Record<string, unknown>[];
  /** The whole answer. */
  readonly raw: Record<string, unknown>;
  /** Whether the operation must not go on as it is: it is blocked, or a person is to be asked. */
  get stops(): boolean;
}

export interface EngineOptions {
  /** The directory whose policy judges; a relative path is resolved once, in the constructor. Default: the current one. */
  project?: string;
  /** How long one event may take, in seconds, from 0.01 to 3600. Default: 60. */
  timeout?: number;
  /** What a failure of `ahp` itself gives: a verdict that blocks (the default), or the error. It is never a pass. */
  onFailure?: 'block' | 'raise';
  /** The `ahp` to start, a path or a name on PATH. Default: that of the package of this platform. */
  program?: string;
  /** `human` where a person gives the answers of `respond`. */
  answers?: 'agent' | 'human';
}

/** Fields of an event beside its trigger. */
export interface EventFields {
  /** The name of the tool that is called. */
  tool?: string;
  /** What it is called with: an object, or any other JSON, which is judged as `{"value": …}`. */
  input?: unknown;
  session_id?: string;
  issue_id?: string;
  work_dir?: string;
  environment?: string;
  prompt?: string;
  [field: string]: unknown;
}

/** Judges events by the policy of a project, in a child process that is started when it is first needed. */
export declare class Engine {
  /** Throws a TypeError or a RangeError that names the option which is unknown or has no possible value. */
  constructor(options?: EngineOptions);
  /** How long one event may take, in seconds. */
  readonly timeout: number;
  /** Judges an event; `trigger` is such as `pre-tool-use` or `pre-issue-submit`. */
  evaluate(trigger: string, fields?: EventFields): Promise<Verdict>;
  /**
   * Judges what a host gives its hooks; returns the host's own answer. Only the caller knows how that host is told of a
   * failure: an `AhpError` is thrown whatever `onFailure` says.
   */
  hook(host: string, payload: object, options?: { event?: string }): Promise<Record<string, unknown>>;
  /** Answers a signal. `human` counts only in an engine that was made with `answers: 'human'`. */
  respond(
    signal: string,
    action: string,
    details?: Record<string, unknown>,
    options?: { by?: 'agent' | 'human' },
  ): Promise<void>;
  /** Asks for the version of `ahp`, the project, and how many faults its policy has. */
  hello(): Promise<{ protocol: number; ahp: string; project: string; faults: number }>;
  /** Ends the child. What is asked afterwards fails. */
  close(): void;
}

/** `ahp` gave no answer, or refused the question. */
export declare class AhpError extends Error {}
/** There is no `ahp`, it ended, or it speaks another protocol. */
export declare class AhpUnavailable extends AhpError {}
/** The event or a parameter is not what `ahp` expects; the message says what is. */
export declare class BadEvent extends AhpError {}
/** No answer came in time; a new child is started for the next question. */
export declare class Timeout extends AhpError {}
