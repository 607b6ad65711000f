// Writes what jest ran, in the form of its own JSON report, before a processor of results that the project names may change
// it. As jest's `testResultsProcessor` it leaves alone where the user lets jest write.
'use strict';
const { report } = require('./ahp_tell.cjs');

const assertion = ({ ancestorTitles, title, fullName, status, failing, location, failureMessages }) => ({
  ancestorTitles,
  title,
  fullName,
  status,
  failing: failing === true,
  location: location ?? null,
  failureMessages: failureMessages ?? [],
});

module.exports = (results) => {
  const testResults = results.testResults.map((file) => ({
    name: file.testFilePath,
    status: file.testExecError || file.numFailingTests > 0 ? 'failed' : 'passed',
    message: file.failureMessage ?? '',
    assertionResults: file.testResults.map(assertion),
  }));
  report(`jest-${process.pid}.json`, JSON.stringify({ testResults }));
  const { theirs } = module.exports;
  return theirs ? require(require.resolve(theirs, { paths: [process.cwd()] }))(results) : results;
};
