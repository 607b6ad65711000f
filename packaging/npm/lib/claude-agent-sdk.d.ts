import type { HookCallbackMatcher, HookEvent } from '@anthropic-ai/claude-agent-sdk';
import type { Engine } from './index.js';

/** The events that are judged. */
export declare const EVENTS: readonly HookEvent[];

/** Returns hooks for `query({ options: { hooks: hooks(engine) } })`. Where `ahp` is gone, tools and prompts are refused. */
export declare function hooks(
  engine: Engine,
  events?: readonly HookEvent[],
): Partial<Record<HookEvent, HookCallbackMatcher[]>>;
