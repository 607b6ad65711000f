// Approval of tool calls for the AI SDK: `generateText({ toolApproval: toolApproval(engine) })`.

import { toolsOf } from './options.js';
import { before, objection } from './tool-call.js';

export function toolApproval(engine, options = {}) {
  const tools = toolsOf('toolApproval', options);
  return async ({ toolCall }) => {
    const { toolName, input } = toolCall;
    const verdict = await before(engine, toolName, input, tools);
    if (verdict.decision === 'ask') return { type: 'user-approval', reason: verdict.message };
    const reason = objection(verdict, input);
    // No opinion is `undefined`: "approved" would skip the approval that a tool itself asks for.
    return reason === undefined ? undefined : { type: 'denied', reason };
  };
}
