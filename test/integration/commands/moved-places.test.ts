import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { findEvaluation } from '../../../src/db/evaluations.ts';
import { openWorkplace, startDetached, type Workplace } from './assay.ts';

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** An agent at an address of its own that wants a token; gives its address. */
async function serve(token: string): Promise<string> {
  const server: Server = createServer((request, response) => {
    const known = request.headers.authorization === `Bearer ${token}`;
    request.resume().on('end', () => {
      response.writeHead(known ? 200 : 401, { 'content-type': 'application/json' });
      response.end(JSON.stringify(known ? { answer: 'one said' } : { error: 'who are you?' }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

function point(place: Workplace, url: string, name: string): void {
  place.write(
    'suite.yaml',
    `name: tiny\nkind: smoke\ndatasets: [cases.yaml]\nagent: { type: http, url: '${url}', auth_env: ${name} }\njudge: null\n`,
  );
}

async function open(env: Record<string, string>): Promise<Workplace> {
  const place = await openWorkplace({ cases: ['one'] }, env);
  closing.push(() => place.close());
  return place;
}

test.each([
  ['run joins', ['run', 'suite.yaml', '--budget-usd', '5']],
  ['resume opens', ['resume', 'moved', '--budget-usd', '5']],
])(
  'R8: a stopped evaluation that %s again takes address and name of the secret from the suite as it is now',
  async (_, again) => {
    const [wrong, right] = [await serve('nobody has it'), await serve('valid')];
    const place = await open({ OLD_TOKEN: 'stale', NEW_TOKEN: 'valid' });
    point(place, wrong, 'OLD_TOKEN');
    expect((await place.run('run', 'suite.yaml', '--id', 'moved')).code).toBe(4);
    point(place, right, 'NEW_TOKEN');
    const ran = await place.run(...again);
    expect(ran.err).toContain(`agent.url is taken from the suite as it is now: ${right} (was ${wrong})`);
    expect(ran.err).toContain('agent.auth_env is taken from the suite as it is now: NEW_TOKEN (was OLD_TOKEN)');
    expect(ran.code).toBe(0);
    const row = await findEvaluation(place.db, 'moved');
    expect(row).toMatchObject({
      status: 'completed',
      definition: { agent: { url: right, auth_env: 'NEW_TOKEN' }, budget_usd: 5 },
    });
    expect((await place.run('list', '--json')).out.match(/"moved"/g)).toHaveLength(1);
  },
);

test('R8: a running evaluation keeps its address, and joining it says so', async () => {
  const [before, now] = [await serve('valid'), await serve('valid')];
  const place = await open({ TOKEN: 'valid' });
  point(place, before, 'TOKEN');
  const id = await startDetached(place, '--id', 'moved-running');
  point(place, now, 'TOKEN');
  const said = `agent.url: the stored evaluation uses ${before}; the suite now says ${now}; \`assay run --new\` starts another`;
  expect((await place.run('run', 'suite.yaml', '--detach')).err).toContain(said);
  const joined = await place.run('resume', id);
  expect(joined.err).toContain(said);
  expect(joined.code).toBe(0);
  expect((await findEvaluation(place.db, id))?.definition.agent).toMatchObject({ url: before });
});
