// Tries the TypeScript client itself: many questions at once, a killed child, a child that hangs, and bad input.
//
// node clients.mjs AHP

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { AhpUnavailable, BadEvent, Engine, Timeout } from 'ahp-hooks';
import { toolApproval } from 'ahp-hooks/ai-sdk';
import { guardrail } from 'ahp-hooks/openai-agents';

const ahp = resolve(process.argv[2]);
const policy = "hooks: {pre-tool-use: [{oracle: PermissionChecker, config: {dangerous_commands: ['git push --force']}}]}\n";
const forced = { tool: 'Bash', input: { command: 'git push --force nowhere main' } };
const harmless = { tool: 'Bash', input: { command: 'echo hi' } };

const project = realpathSync(mkdtempSync(join(tmpdir(), 'client-')));
mkdirSync(join(project, '.ahp'));
writeFileSync(join(project, '.ahp/hooks.yaml'), policy);
// A policy at home would hold in every project.
process.env.HOME = mkdtempSync(join(tmpdir(), 'home-'));

function engine(t, options = {}) {
  const made = new Engine({ project, timeout: 30, program: ahp, ...options });
  t.after(() => made.close());
  return made;
}

function children() {
  const listed = execFileSync('ps', ['-o', 'pid=,comm=', '--ppid', String(process.pid)], { encoding: 'utf8' });
  return listed.split('\n').filter((line) => line.trim().endsWith(' ahp')).map((line) => Number.parseInt(line, 10));
}

/** The only child; one that an earlier test has closed may still be ending. */
async function onlyChild() {
  for (;;) {
    const [child, ...others] = children();
    if (child !== undefined && others.length === 0) return child;
    await setTimeout(20);
  }
}

function program(text) {
  const path = join(mkdtempSync(join(tmpdir(), 'stand-in-')), 'ahp');
  writeFileSync(path, text);
  chmodSync(path, 0o755);
  return path;
}

test('a block has reason, signals and the whole answer', async (t) => {
  const verdict = await engine(t).evaluate('pre-tool-use', forced);
  assert.equal(verdict.decision, 'block');
  assert.ok(verdict.stops);
  assert.match(verdict.message, /git push --force/);
  assert.equal(verdict.signals[0].header.intensity, 'block');
});

test('many questions share one child', async (t) => {
  const one = engine(t);
  const asked = Array.from({ length: 200 }, (_, n) => one.evaluate('pre-tool-use', n % 2 ? harmless : forced));
  const found = (await Promise.all(asked)).map((verdict) => verdict.stops);
  assert.deepEqual(found, found.map((_, n) => n % 2 === 0));
  await onlyChild();
});

test('the project is the one that was meant when the engine was made', async (t) => {
  const before = process.cwd();
  t.after(() => process.chdir(before));
  const elsewhere = realpathSync(mkdtempSync(join(tmpdir(), 'elsewhere-')));
  symlinkSync(project, join(elsewhere, 'link'));
  symlinkSync(ahp, join(elsewhere, 'ahp'));
  const name = basename(project);
  const cases = [
    [project, {}],
    [project, { project: '.' }],
    [dirname(project), { project: name }],
    [elsewhere, { project: 'link' }],
    [elsewhere, { project, program: './ahp' }],
  ];
  for (const [cwd, options] of cases) {
    process.chdir(cwd);
    const one = new Engine({ program: ahp, ...options });
    t.after(() => one.close());
    process.chdir('/');
    const verdict = await one.evaluate('pre-tool-use', forced);
    assert.ok(verdict.signals.length > 0, `${JSON.stringify(options)}: ${verdict.decision} ${verdict.message}`);
  }
});

test('a work_dir is relative to the caller', async (t) => {
  const before = process.cwd();
  t.after(() => process.chdir(before));
  const one = engine(t, { project: mkdtempSync(join(tmpdir(), 'elsewhere-')) });
  process.chdir('/');
  assert.equal((await one.evaluate('pre-tool-use', forced)).stops, false);
  process.chdir(dirname(project));
  assert.ok((await one.evaluate('pre-tool-use', { ...forced, work_dir: basename(project) })).signals.length > 0);
});

test('what is no option is told where it is given', async (t) => {
  const ways = [
    [{ projct: '.' }, TypeError, /Engine has no option `projct`: .*`project`/],
    ['.', TypeError, /options of Engine are an object.*given: '\.'/],
    [null, TypeError, /options of Engine are an object.*given: null/],
    [{ timeout: '60' }, TypeError, /`timeout` is a number of seconds from 0.01 to 3600; given: '60'/],
    [{ timeout: null }, TypeError, /`timeout` .*given: null/],
    [{ timeout: 0.00001 }, RangeError, /`timeout` .*given: 0.00001/],
    [{ timeout: 0 }, RangeError, /`timeout` .*given: 0/],
    [{ timeout: 3601 }, RangeError, /`timeout` .*given: 3601/],
    [{ timeout: Number.NaN }, RangeError, /`timeout` .*given: NaN/],
    [{ onFailure: 'allow' }, RangeError, /`onFailure` is 'block' or 'raise'; given: 'allow'/],
    [{ onFailure: null }, TypeError, /`onFailure` .*given: null/],
    [{ answers: 'robot' }, RangeError, /`answers` is 'agent' or 'human'; given: 'robot'/],
    [{ project: null }, TypeError, /`project` is a path.*given: null/],
    [{ project: 3 }, TypeError, /`project` .*given: 3/],
    [{ project: '' }, RangeError, /`project` .*given: ''/],
    [{ program: 3 }, TypeError, /`program` is a path.*given: 3/],
    [{ program: '' }, RangeError, /`program` .*given: ''/],
  ];
  for (const [options, name, message] of ways) {
    assert.throws(() => new Engine(options), { name: name.name, message }, JSON.stringify(options));
  }
  const one = engine(t);
  await assert.rejects(one.hook('claude-code', {}, { evnt: 'Stop' }), /hook has no option `evnt`/);
  await assert.rejects(one.respond('ffffffff', 'abort', {}, { bye: 'human' }), /respond has no option `bye`/);
  for (const adapter of [guardrail, toolApproval]) {
    assert.throws(() => adapter(one, { tool: { exec: 'Bash' } }), /has no option `tool`/);
    assert.throws(() => adapter(one, { tools: ['Bash', 3] }), /`tools` is an object such as/);
  }
});

test('a program that says nothing is given up in time', async (t) => {
  const silent = program('#!/bin/sh\nwhile read line; do :; done\n');
  const began = performance.now();
  const one = engine(t, { program: silent, timeout: 0.5, onFailure: 'raise' });
  await assert.rejects(one.evaluate('pre-tool-use', harmless), (error) => error instanceof Timeout && /no answer within 0.5 s/.test(error.message));
  assert.ok(performance.now() - began < 10_000);
});

test('a killed child blocks what is under way and is started again', async (t) => {
  const one = engine(t);
  assert.equal((await one.evaluate('pre-tool-use', harmless)).stops, false);
  const child = await onlyChild();
  process.kill(child, 'SIGSTOP');
  const asked = one.evaluate('pre-tool-use', harmless);
  process.kill(child, 'SIGKILL');
  const verdict = await asked;
  assert.equal(verdict.decision, 'block');
  assert.match(verdict.message, /could not judge/);
  assert.equal((await one.evaluate('pre-tool-use', harmless)).stops, false);
});

test('a child that hangs is ended in time', async (t) => {
  const one = engine(t, { timeout: 1.5, onFailure: 'raise' });
  await one.hello();
  process.kill(await onlyChild(), 'SIGSTOP');
  await assert.rejects(one.evaluate('pre-tool-use', harmless), Timeout);
  assert.equal((await one.evaluate('pre-tool-use', harmless)).stops, false);
});

test('a program that fails twice is left alone for a while', async (t) => {
  const tries = join(project, 'tries');
  const one = engine(t, { program: program(`#!/bin/sh\necho x >> ${tries}\necho 'no policy here' >&2\nexit 1\n`) });
  for (let n = 0; n < 5; n += 1) {
    const verdict = await one.evaluate('pre-tool-use', harmless);
    assert.equal(verdict.decision, 'block');
    assert.match(verdict.message, /no policy here/);
  }
  assert.equal(readFileSync(tries, 'utf8'), 'x\nx\n');
});

test('a program that is not there, and another protocol', async (t) => {
  assert.equal((await engine(t, { program: join(project, 'gone') }).evaluate('pre-tool-use', harmless)).decision, 'block');
  const answer = '{"jsonrpc":"2.0","id":1,"result":{"protocol":99}}';
  const other = engine(t, { program: program(`#!/bin/sh\nread line\necho '${answer}'\nread line\n`), onFailure: 'raise' });
  await assert.rejects(other.evaluate('pre-tool-use', harmless), (error) => error instanceof AhpUnavailable && /protocol 99/.test(error.message));
});

test('bad input is told and the child goes on', async (t) => {
  const one = engine(t, { onFailure: 'raise' });
  await assert.rejects(one.evaluate('pre-tool-uze', harmless), BadEvent);
  await assert.rejects(one.evaluate('pre-tool-use', { tool: 'Bash', input: { command: 1n } }), /not JSON/);
  await assert.rejects(one.evaluate('pre-tool-use', { tool: 'Bash', input: { command: 'x'.repeat(33 << 20) } }), /32 MiB/);
  await assert.rejects(one.hook('no-such-host', {}), /unknown host/);
  assert.equal((await one.evaluate('pre-tool-use', forced)).decision, 'block');
  await onlyChild();
});

test('what holds more than is read is stopped at once, and the child goes on', async (t) => {
  const one = engine(t, { onFailure: 'raise' });
  await one.hello();
  const child = await onlyChild();
  const deep = JSON.parse('['.repeat(200) + ']'.repeat(200));
  for (const more of [deep, '\ud800']) {
    const verdict = await one.evaluate('pre-tool-use', { tool: 'Bash', input: { command: 'echo hi', more } });
    assert.equal(verdict.decision, 'block', JSON.stringify(more));
    const payload = { hook_event_name: 'PreToolUse', session_id: 's', cwd: project, tool_name: 'Bash', tool_input: { command: 'echo hi', more } };
    const reply = await one.hook('claude-agent-sdk', payload);
    assert.equal(reply.hookSpecificOutput.permissionDecision, 'deny', JSON.stringify(reply));
  }
  assert.equal((await one.evaluate('post-tool-use', { tool: 'Bash', input: deep })).stops, false);
  assert.equal(await onlyChild(), child);
});

test('an answer without a number is for whoever waits', async (t) => {
  const hello = '{"jsonrpc":"2.0","id":1,"result":{"protocol":1}}';
  const refused = '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"the line is not JSON"}}';
  const text = `#!/bin/sh\nread line\necho '${hello}'\nwhile read line; do echo '${refused}'; done\n`;
  const one = engine(t, { program: program(text), onFailure: 'raise' });
  for (let n = 0; n < 3; n += 1) await assert.rejects(one.evaluate('pre-tool-use', harmless), BadEvent);
});

test('a call that names no tool is stopped, by each adapter too', async (t) => {
  const one = engine(t);
  const { input } = harmless;
  for (const given of [{ input }, { tool: undefined, input }, { tool: null, input }, { tool: '', input }, {}]) {
    const verdict = await one.evaluate('pre-tool-use', given);
    assert.equal(verdict.decision, 'block', JSON.stringify(given));
    assert.match(verdict.message, /names no tool/);
  }
  assert.equal((await one.evaluate('pre-tool-use', harmless)).stops, false);
  assert.equal((await one.evaluate('pre-agent-turn', { prompt: 'go' })).stops, false);
  const approved = await toolApproval(one)({ toolCall: { input } });
  assert.equal(approved.type, 'denied');
  const { behavior } = await guardrail(one).run({ toolCall: { arguments: JSON.stringify(input) } });
  assert.equal(behavior.type, 'rejectContent');
});

test('an input that is no object is judged as a value', async (t) => {
  assert.ok((await engine(t).evaluate('pre-tool-use', { tool: 'Bash', input: forced.input.command })).stops);
});

test('a child does not keep its parent alive', () => {
  const script = `import { Engine } from 'ahp-hooks';
    const e = new Engine({ project: ${JSON.stringify(project)}, program: ${JSON.stringify(ahp)} });
    await e.evaluate('pre-tool-use', { tool: 'Bash', input: { command: 'echo hi' } });`;
  execFileSync(process.execPath, ['--input-type=module', '-e', script], { cwd: import.meta.dirname, timeout: 60_000 });
});
