#!/usr/bin/env node
// Starts the program for people. Hooks call the program itself, whose path `ahp install` writes: Node takes longer to start
// than `ahp` takes to judge.

import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { findProgram } from '../lib/program.js';

let program;
try {
  program = findProgram();
} catch (error) {
  console.error(error.message);
  process.exit(1);
}
const child = spawn(program, process.argv.slice(2), { stdio: 'inherit' });
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => child.kill(signal));
}
child.on('error', (error) => {
  console.error(`ahp: ${program} cannot be started: ${error.message}`);
  process.exit(1);
});
child.on('exit', (code, signal) => {
  process.exit(signal ? 128 + (constants.signals[signal] ?? 0) : code);
});
