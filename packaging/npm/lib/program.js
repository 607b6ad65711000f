// Finds the program in the package of this platform, which npm installs as an optional dependency.

import { createRequire } from 'node:module';

export class ProgramMissing extends Error {}

/** Returns the path of `ahp` for this system. */
export function findProgram() {
  const system = `${process.platform}-${process.arch}`;
  const name = `@ahp-hooks/${system}`;
  const require = createRequire(import.meta.url);
  try {
    return require.resolve(`${name}/bin/ahp`);
  } catch {
    const { optionalDependencies: built = {} } = require('../package.json');
    if (process.platform === 'win32' || (Object.keys(built).length > 0 && !(name in built))) {
      throw new ProgramMissing(`ahp: there is no program for ${system}; on Windows, install it in WSL`);
    }
    throw new ProgramMissing(
      `ahp: the package ${name} is not installed: this system is ${system}; install ahp-hooks without --omit=optional`,
    );
  }
}
