import { expect, test } from 'vitest';
import { describeFileError } from '../../../src/local/system-error.ts';

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
