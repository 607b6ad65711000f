// Runs each TypeScript adapter in its real framework, offline, and judges by the tool's own record of what ran.
//
// node frameworks.mjs AHP HERE [FRAMEWORK …], from a copy beside a `node_modules` that has the frameworks and `ahp-hooks`;
// HERE is the directory of this file in the source.
// The model is scripted: it calls the tool `exec` once and then ends. The tool notes its command and runs nothing, but for
// the Claude Agent SDK, where the real client runs its own `Bash`: there the commands do no harm if a gate is open.

import { execFileSync, spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';

const [ahp, here, ...wanted] = process.argv.slice(2).map((a, n) => (n < 2 ? resolve(a) : a));
const tools = { exec: 'Bash' };
process.env.OPENAI_AGENTS_DISABLE_TRACING = '1';

const { Engine } = await import('ahp-hooks');

async function aiSdk(engine, command, ran) {
  const { generateText, tool, stepCountIs, isStepCount, jsonSchema } = await import('ai');
  const { toolApproval } = await import('ahp-hooks/ai-sdk');
  const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
  let asked = 0;
  const model = {
    specificationVersion: 'v4',
    provider: 'scripted',
    modelId: 'scripted',
    supportedUrls: {},
    async doGenerate({ prompt }) {
      asked += 1;
      ran.told = JSON.stringify(prompt);
      const call = { type: 'tool-call', toolCallId: 'c1', toolName: 'exec', input: JSON.stringify({ command }) };
      return asked === 1
        ? { content: [call], finishReason: { unified: 'tool-calls' }, usage, warnings: [] }
        : { content: [{ type: 'text', text: 'over' }], finishReason: { unified: 'stop' }, usage, warnings: [] };
    },
  };
  const inputSchema = jsonSchema({ type: 'object', properties: { command: { type: 'string' } } });
  const exec = tool({ description: 'Runs a command', inputSchema, execute: async (input) => ran.exec(input.command) });
  const result = await generateText({
    model,
    tools: { exec },
    prompt: 'go',
    toolApproval: toolApproval(engine, { tools }),
    stopWhen: (isStepCount ?? stepCountIs)(3),
  });
  const requests = result.content.filter((part) => part.type === 'tool-approval-request');
  ran.told += JSON.stringify(requests);
}

async function openaiAgents(engine, command, ran) {
  const { Agent, Runner, Usage, tool } = await import('@openai/agents');
  const { guardrail } = await import('ahp-hooks/openai-agents');
  let asked = 0;
  const model = {
    async getResponse({ input }) {
      asked += 1;
      ran.told = JSON.stringify(input);
      const call = { type: 'function_call', callId: 'c1', name: 'exec', status: 'completed', arguments: JSON.stringify({ command }) };
      const said = { type: 'message', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: 'over' }] };
      return { usage: new Usage(), output: [asked === 1 ? call : said] };
    },
    async *getStreamedResponse() {
      throw new Error('not asked for');
    },
  };
  const exec = tool({
    name: 'exec',
    description: 'Runs a command',
    parameters: { type: 'object', properties: { command: { type: 'string' } }, required: ['command'], additionalProperties: false },
    strict: true,
    execute: async (input) => ran.exec(input.command),
    inputGuardrails: [guardrail(engine, { tools })],
  });
  await new Runner({ tracingDisabled: true }).run(new Agent({ name: 'trial', model, tools: [exec] }), 'go');
}

async function claudeAgentSdk(engine, command, ran) {
  const { query } = await import('@anthropic-ai/claude-agent-sdk');
  const { hooks } = await import('ahp-hooks/claude-agent-sdk');
  const place = mkdtempSync(join(tmpdir(), 'sdk-'));
  const script = join(place, 'script.json');
  writeFileSync(script, JSON.stringify([{ shell: command }, { text: 'over' }]));
  const server = join(here, '../hosts/fake_model.py');
  const model = spawn('python3', [server, '--script', script, '--log', join(place, 'log.jsonl')], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const first = await new Promise((done) => createInterface({ input: model.stdout }).once('line', done));
    const home = join(place, 'home');
    mkdirSync(home);
    const env = {
      PATH: process.env.PATH,
      HOME: home,
      ANTHROPIC_BASE_URL: `http://127.0.0.1:${first.split(' ')[1]}`,
      ANTHROPIC_API_KEY: 'sk-ant-trial',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      IS_SANDBOX: '1',
    };
    const options = {
      hooks: hooks(engine), cwd: place, env, permissionMode: 'bypassPermissions', allowDangerouslySkipPermissions: true, maxTurns: 4,
    };
    try {
      for await (const message of query({ prompt: 'go', options })) {
        if (message.type !== 'system') ran.told += JSON.stringify(message);
        for (const part of message.type === 'user' ? [message.message.content].flat() : []) {
          if (part.type === 'tool_result' && !part.is_error) {
            ran.exec(JSON.stringify(part.content).includes('changed') ? 'echo changed' : command);
          }
        }
      }
    } catch (error) {
      ran.told += String(error);
    }
  } finally {
    model.kill();
    rmSync(place, { recursive: true, force: true });
  }
}

/** Returns what is wrong, by what the tool ran and what was told. */
function judge(scenario, ran) {
  const { becomes, command, stopped, told } = scenario;
  const same = (list) => JSON.stringify(ran.commands) === JSON.stringify(list);
  if (becomes && same([becomes])) return undefined;
  const expected = stopped || becomes ? [] : [command];
  if (!same(expected)) return `ran ${JSON.stringify(ran.commands)}, expected ${JSON.stringify(expected)}; told ${ran.told.slice(0, 1000)}`;
  return told && !new RegExp(told).test(ran.told) ? `the words are missing in: ${ran.told.slice(0, 1500)}` : undefined;
}

const frameworks = { aiSdk, openaiAgents, claudeAgentSdk };
const scenarios = JSON.parse(readFileSync(join(here, 'scenarios.json'), 'utf8'));
let failed = 0;
for (const name of wanted.length ? wanted : Object.keys(frameworks)) {
  for (const scenario of scenarios) {
    const project = mkdtempSync(join(tmpdir(), 'sdk-project-'));
    mkdirSync(join(project, '.ahp/oracles'), { recursive: true });
    cpSync(join(here, 'project.yaml'), join(project, '.ahp/hooks.yaml'));
    cpSync(join(here, 'sdk-trial.rhai'), join(project, '.ahp/oracles/sdk-trial.rhai'));
    process.env.HOME = project;
    // A script may change what runs only where it is trusted.
    execFileSync(ahp, ['trust', '--yes'], { cwd: project, stdio: 'ignore' });
    const engine = new Engine({ project, timeout: 30, program: scenario.gone ? join(project, 'gone') : ahp });
    const ran = { commands: [], told: '', exec: (command) => ran.commands.push(command) && 'done' };
    let wrong;
    try {
      await frameworks[name](engine, scenario.command, ran);
      wrong = judge(scenario, ran);
    } catch (error) {
      wrong = error.stack;
    }
    engine.close();
    rmSync(project, { recursive: true, force: true });
    console.log(`${wrong ? 'FAILED' : 'ok    '}  ${name}: ${scenario.name}${wrong ? `: ${wrong}` : ''}`);
    failed += wrong ? 1 : 0;
  }
}
process.exit(failed ? 1 : 0);
