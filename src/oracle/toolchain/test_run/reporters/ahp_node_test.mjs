// Writes what `node --test` ran as JUnit XML, to one file for each process.
import fs from 'node:fs';
import path from 'node:path';
import { junit } from 'node:test/reporters';

export default async function* report(events) {
  const named = (end) => path.join(import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname), `node-${process.pid}.${end}`);
  const isNested = process.env.AHP_RUNNER && process.env.AHP_RUNNER !== `node-${process.pid}`;
  if (!isNested) fs.writeFileSync(named('started'), '');
  let text = '';
  for await (const part of junit(events)) text += part;
  if (!isNested) fs.writeFileSync(named('xml'), text);
  yield '';
}
