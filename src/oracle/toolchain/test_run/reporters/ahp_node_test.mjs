// Writes what `node --test` ran as JUnit XML, to one file for each process.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { junit } from 'node:test/reporters';
import ahp from './ahp_tell.cjs';

const root = readFileSync(new URL('root', import.meta.url), 'utf8');

export default async function* report(events) {
  const isOurs = ahp.take();
  const name = `node-${process.pid}`;
  if (isOurs) ahp.begun(name);
  let text = '';
  const files = new Set();
  // JUnit has no place for the file, by which tests of the same name are told apart.
  async function* noted() {
    for await (const event of events) {
      const { name, file, nesting } = event.data ?? {};
      const isTest = ['test:start', 'test:pass', 'test:fail'].includes(event.type) && file && name !== file;
      if (isTest && event.type === 'test:pass') files.add(file);
      yield isTest && nesting === 0 ? { ...event, data: { ...event.data, name: `${path.relative(root, file)} > ${name}` } } : event;
    }
  }
  for await (const part of junit(noted())) text += part;
  if (isOurs) {
    const options = (process.env.NODE_OPTIONS ?? '').split(/\s+/);
    ahp.part(name, ahp.partOf('--test-shard', [...process.execArgv, ...options]));
    files.forEach(ahp.place);
    ahp.report(`${name}.xml`, text);
  }
  yield '';
}
