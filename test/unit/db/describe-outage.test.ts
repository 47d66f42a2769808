import { expect, test } from 'vitest';
import { describeOutage } from '../../../src/db/describe-outage.ts';

const coded = (code: string, message: string): Error => Object.assign(new Error(message), { code });

test.each([
  [coded('ECONNREFUSED', 'connect ECONNREFUSED 127.0.0.1:5432'), 'Postgres does not answer: connect ECONNREFUSED'],
  [
    new AggregateError([coded('ECONNREFUSED', 'connect ECONNREFUSED ::1:5432')], ''),
    'Postgres does not answer: connect',
  ],
  [coded('57P03', 'the database system is starting up'), 'Postgres does not answer: the database system'],
  [coded('53100', 'could not extend file: No space left on device'), 'Postgres cannot go on: could not extend file'],
])('%s is an outage with exit code 4, not a defect', (error, message) => {
  expect(describeOutage(error)).toMatchObject({
    name: 'UserError',
    exitCode: 4,
    message: expect.stringContaining(message),
    hint: expect.stringContaining('assay doctor'),
    cause: error,
  });
});

test.each([coded('42P01', 'relation "x" does not exist'), new TypeError('x is not a function'), 'text'])(
  '%s is none',
  (error) => {
    expect(describeOutage(error)).toBeNull();
  },
);
