// Loaded by jest after the setup files of the project, and before the tests of a file.
'use strict';
require('./ahp_expect.cjs').tell(process.env.AHP_JEST_SETUP ?? '');
