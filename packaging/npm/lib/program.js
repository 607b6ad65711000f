// Finds the program in the package of this platform, which npm installs as an optional dependency.

import { createRequire } from 'node:module';

export class ProgramMissing extends Error {}

/** Returns the path of `ahp` for this system. */
export function findProgram() {
  const system = `${process.platform}-${process.arch}`;
  const name = `@ahp-hooks/${system}`;
  try {
    return createRequire(import.meta.url).resolve(`${name}/bin/ahp`);
  } catch {
    throw new ProgramMissing(
      `ahp: the package ${name} is not installed: this system is ${system}; install ahp-hooks without --omit=optional, on Linux or macOS`,
    );
  }
}
