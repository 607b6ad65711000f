// Writes what `node --test` ran as JUnit XML, to one file for each process.
import { junit } from 'node:test/reporters';
import ahp from './ahp_tell.cjs';

export default async function* report(events) {
  const isOurs = ahp.take();
  const name = `node-${process.pid}`;
  if (isOurs) ahp.begun(name);
  let text = '';
  for await (const part of junit(events)) text += part;
  if (isOurs) {
    const options = (process.env.NODE_OPTIONS ?? '').split(/\s+/);
    ahp.part(name, ahp.partOf('--test-shard', [...process.execArgv, ...options]));
    ahp.report(`${name}.xml`, text);
  }
  yield '';
}
