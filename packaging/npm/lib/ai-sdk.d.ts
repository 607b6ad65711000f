import type { Engine } from './index.js';

/**
 * Returns a function for `generateText({ toolApproval })`, `streamText` and agents: a block denies the call, a question
 * asks the user. An input cannot be changed there: it is denied with the input that would be right.
 *
 * @param options.tools which tool of the vocabulary each of yours is, such as `{ exec: 'Bash' }`
 */
export declare function toolApproval(
  engine: Engine,
  options?: { tools?: Record<string, string> },
): (options: {
  toolCall: { toolName: string; input: unknown };
}) => Promise<undefined | { type: 'denied' | 'user-approval'; reason: string }>;
