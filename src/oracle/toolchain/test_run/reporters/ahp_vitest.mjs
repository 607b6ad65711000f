// Writes what vitest ran in the form of jest's JSON report, with what its own leaves out: tests that are to fail.
import ahp from './ahp_tell.cjs';

const statuses = { pass: 'passed', fail: 'failed' };

function* tests(task, above = []) {
  if (task.type === 'test' || task.type === 'custom') yield [task, above];
  const titles = task.filepath ? above : [...above, task.name];
  for (const part of task.tasks ?? []) yield* tests(part, titles);
}

const told = (error) => String(error?.stack ?? error?.message ?? error);

function assertion([test, ancestorTitles]) {
  const status = statuses[test.result?.state] ?? 'skipped';
  return {
    ancestorTitles,
    title: test.name,
    status: test.fails && status === 'passed' ? 'todo' : status,
    location: test.location ?? null,
    failureMessages: (test.result?.errors ?? []).map(told),
  };
}

export default class Report {
  isWritten = false;

  onInit({ config }) {
    ahp.part(`vitest-${process.pid}`, config?.shard);
    for (const setting of ['runner', 'pool', 'environment']) ahp.replaced(`vitest's ${setting}`, String(config?.[setting]));
  }

  // Of the version before 3.
  onFinished(files) {
    this.write(files ?? []);
  }

  onTestRunEnd(modules) {
    this.write(modules.map((module) => module.task));
  }

  write(files) {
    if (this.isWritten) return;
    this.isWritten = true;
    const testResults = files.map((file) => ({
      name: file.filepath,
      status: statuses[file.result?.state] ?? 'skipped',
      message: (file.result?.errors ?? []).map(told).join('\n'),
      assertionResults: [...tests(file)].map(assertion),
    }));
    ahp.report(`vitest-${process.pid}.json`, JSON.stringify({ testResults }));
  }
}
