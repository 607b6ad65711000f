import type { ToolInputGuardrailDefinition } from '@openai/agents';
import type { Engine } from './index.js';

/**
 * Returns a guardrail that rejects what the policy stops, with the reason and the way out. An input cannot be changed and
 * nobody can be asked there: both are rejections that say what to do.
 *
 * @param options.tools which tool of the vocabulary each of yours is, such as `{ exec: 'Bash' }`
 */
export declare function guardrail(
  engine: Engine,
  options?: { tools?: Record<string, string> },
): ToolInputGuardrailDefinition<any>;
