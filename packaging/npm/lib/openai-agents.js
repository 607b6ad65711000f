// A guardrail for tools of the OpenAI Agents SDK: `tool({ inputGuardrails: [guardrail(engine)] })`.

import { toolsOf } from './options.js';
import { before, objection } from './tool-call.js';

export function guardrail(engine, options = {}) {
  const tools = toolsOf('guardrail', options);
  return {
    type: 'tool_input',
    name: 'ahp',
    async run({ toolCall }) {
      const reject = (message) => ({ behavior: { type: 'rejectContent', message } });
      let input;
      try {
        input = JSON.parse(toolCall.arguments || '{}');
      } catch (error) {
        return reject(`Blocked: the arguments are not JSON: ${error.message}`);
      }
      const why = objection(await before(engine, toolCall.name, input, tools), input);
      return why === undefined ? { behavior: { type: 'allow' } } : reject(why);
    },
  };
}
