// Hooks for the Claude Agent SDK: `query({ options: { hooks: hooks(engine) } })`.

import { AhpError } from './index.js';

const HOST = 'claude-agent-sdk';
export const EVENTS = [
  'SessionStart', 'UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'PostToolUseFailure', 'Stop', 'SubagentStart',
  'SubagentStop', 'PreCompact', 'SessionEnd',
];
/** Where a failure of `ahp` must hold something; elsewhere a block comes too late, or makes the agent go on for ever. */
const CLOSED = ['UserPromptSubmit', 'PreCompact'];

export function hooks(engine, events = EVENTS) {
  const ask = async (payload) => {
    try {
      return await engine.hook(HOST, payload);
    } catch (error) {
      if (!(error instanceof AhpError)) throw error;
      return refusal(payload.hook_event_name, error.message);
    }
  };
  // The SDK gives up later than the engine, so that the engine's words are heard.
  const matcher = { hooks: [ask], timeout: engine.timeout + 5, onFailure: 'block' };
  return Object.fromEntries(events.map((event) => [event, [matcher]]));
}

function refusal(event, why) {
  const reason = `Blocked, because ahp could not judge this: ${why}`;
  if (event === 'PreToolUse') {
    return { hookSpecificOutput: { hookEventName: event, permissionDecision: 'deny', permissionDecisionReason: reason } };
  }
  return CLOSED.includes(event) ? { decision: 'block', reason } : { systemMessage: reason };
}
