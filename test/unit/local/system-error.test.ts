import { expect, test } from 'vitest';
import { describeFileError, describeServerFailure } from '../../../src/local/system-error.ts';

function withCode(code: string): Error {
  return Object.assign(new Error(code), { code });
}

test.each([
  ['ENOSPC', /No space left/],
  ['EDQUOT', /No space left/],
  ['EROFS', /Cannot write to \/x/],
  ['EACCES', /Cannot write to \/x/],
  ['ENOTDIR', /a file is in its way/],
])('%s is an error a user can mend, with exit code 4', (code, message) => {
  expect(describeFileError(withCode(code), '/x')).toMatchObject({
    name: 'UserError',
    exitCode: 4,
    message: expect.stringMatching(message),
    hint: expect.stringMatching(/ASSAY_HOME/),
  });
});

test('any other error is passed on as it is', () => {
  const error = withCode('EIO');
  expect(describeFileError(error, '/x')).toBe(error);
});

test.each([
  'FATAL:  could not write to file "pg_wal/xlogtemp.17210": No space left on device',
  'sqlite: database or disk is full (13)',
])('a server that ended with %j is a full disk, not a server that did not start', (said) => {
  expect(describeServerFailure(new Error('it ended with code 1'), said, '/x')).toMatchObject({
    exitCode: 4,
    message: 'No space left on the disk that holds /x.',
    hint: expect.stringMatching(/Free some space/),
  });
});

test('a server that ended for another reason keeps its own error', () => {
  const error = new Error('it ended with code 1');
  expect(describeServerFailure(error, 'FATAL:  lock file exists', '/x')).toBe(error);
});
