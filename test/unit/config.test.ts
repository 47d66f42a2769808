import path from 'node:path';
import { expect, test } from 'vitest';
import { homeFolder, readConfig } from '../../src/config.ts';

const messageOf = (env: Record<string, string>): string => {
  try {
    readConfig(env, '/project');
    return '';
  } catch (error) {
    return (error as Error).message;
  }
};

test('addresses that are none are refused before anything starts, without repeating them', () => {
  expect(messageOf({ DATABASE_URL: 'secret@host' })).toBe(
    'wrong environment:\n  DATABASE_URL: is not an address; expected something like postgresql://USER:PASSWORD@HOST:PORT/DATABASE',
  );
  expect(messageOf({ DATABASE_URL: 'mysql://u:secret@host/db' })).toMatch(/^wrong environment:\n {2}DATABASE_URL: /);
  expect(messageOf({ OPENAI_BASE_URL: 'api.openai.com' })).toBe(
    'wrong environment:\n  OPENAI_BASE_URL: is not an address; expected something like https://api.openai.com/v1',
  );
  expect(messageOf({ OPENAI_BASE_URL: 'https://me:s3cret@host/v1' })).toBe(
    'wrong environment:\n  OPENAI_BASE_URL: holds a user name, a password or a query; the key goes into OPENAI_API_KEY',
  );
  expect(messageOf({ OPENAI_BASE_URL: 'https://host/v1?key=s3cret' })).not.toMatch(/^$|s3cret/);
  expect(messageOf({ OPENAI_BASE_URL: 'localhost:8080/v1' })).toMatch(/OPENAI_BASE_URL/);
  expect(messageOf({ DATABASE_URL: 'x', ASSAY_MAX_ACTIVITIES: '0' }).split('\n')).toHaveLength(3);
});

test('TEMPORAL_ADDRESS is host:port; anything else is wrong usage that names it', () => {
  for (const wrong of [
    'http://x:99999',
    'http://x:7233',
    'x:99999',
    'x:0',
    'x:',
    ':7233',
    'x:port',
    'x:1/p',
    'a b:1',
    '::1',
  ])
    expect(messageOf({ TEMPORAL_ADDRESS: wrong }), wrong).toMatch(
      /^wrong environment:\n {2}TEMPORAL_ADDRESS: is not of the form host:port/,
    );
  expect(() => readConfig({ TEMPORAL_ADDRESS: 'http://x:99999' }, '/project')).toThrow(
    expect.objectContaining({ name: 'UserError', exitCode: 2 }),
  );
  for (const right of ['localhost:7233', '127.0.0.1:1', '[::1]:65535', 'my_temporal.ns.svc:7233', 'temporal'])
    expect(readConfig({ TEMPORAL_ADDRESS: ` ${right} ` }, '/project').temporalAddress).toBe(right);
  expect(readConfig({ TEMPORAL_ADDRESS: ' ' }, '/project').temporalAddress).toBeUndefined();
});

test('right addresses, and empty variables, which count as absent', () => {
  const url = 'postgres://u:p@h:5432/d';
  const config = readConfig({ DATABASE_URL: url, OPENAI_BASE_URL: ' http://127.0.0.1:1/v1 ' }, '/project');
  expect(config).toMatchObject({ databaseUrl: url, openaiBaseUrl: 'http://127.0.0.1:1/v1' });
  expect(readConfig({ DATABASE_URL: ' ', OPENAI_BASE_URL: '' }, '/project')).toMatchObject({
    databaseUrl: undefined,
    openaiBaseUrl: undefined,
  });
});

test('the folder of the embedded stack is .assay in the working directory, or ASSAY_HOME', () => {
  expect(homeFolder({}, '/project')).toBe(path.resolve('/project/.assay'));
  expect(homeFolder({ ASSAY_HOME: ' ' }, '/project')).toBe(path.resolve('/project/.assay'));
  expect(homeFolder({ ASSAY_HOME: 'other' }, '/project')).toBe(path.resolve('/project/other'));
  expect(readConfig({ ASSAY_HOME: '/elsewhere' }, '/project').home).toBe(path.resolve('/elsewhere'));
});

test('the cache is assay in XDG_CACHE_HOME; one that is empty or relative counts as unset', () => {
  const folder = (value?: string): string =>
    readConfig({ HOME: '/home/me', ...(value === undefined ? {} : { XDG_CACHE_HOME: value }) }, '/project').cacheFolder;
  expect(folder('/cache')).toBe(path.join('/cache', 'assay'));
  for (const value of [undefined, '', ' ', 'relative'])
    expect(folder(value)).toBe(path.join('/home/me/.cache', 'assay'));
});
