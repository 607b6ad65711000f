// Compiled, not run: the types of the package fit those of the frameworks.

import { query } from '@anthropic-ai/claude-agent-sdk';
import { tool } from '@openai/agents';
import { generateText } from 'ai';
import { Engine, type Verdict } from 'ahp-hooks';
import { toolApproval } from 'ahp-hooks/ai-sdk';
import { hooks } from 'ahp-hooks/claude-agent-sdk';
import { guardrail } from 'ahp-hooks/openai-agents';

const engine = new Engine({ project: '.', onFailure: 'raise' });
export const verdict: Promise<Verdict> = engine.evaluate('pre-tool-use', { tool: 'Bash', input: { command: 'ls' } });
export const claude = query({ prompt: 'go', options: { hooks: hooks(engine) } });
export const openai = tool({
  name: 'exec',
  description: 'Runs a command',
  parameters: { type: 'object', properties: {}, required: [], additionalProperties: false },
  strict: true,
  execute: async () => 'done',
  inputGuardrails: [guardrail(engine, { tools: { exec: 'Bash' } })],
});
export const vercel = generateText({ model: 'a/model', prompt: 'go', toolApproval: toolApproval(engine) });
// @ts-expect-error: there is no such way to fail
new Engine({ onFailure: 'allow' });
