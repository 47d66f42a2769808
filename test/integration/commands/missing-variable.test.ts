import { afterEach, expect, test } from 'vitest';
import { findEvaluation } from '../../../src/db/evaluations.ts';
import { openWorkplace, type Workplace } from './assay.ts';

let place: Workplace | null = null;
afterEach(async () => {
  await place?.close();
  place = null;
});

test.each([
  ['agent.auth_env', 'agent: { type: http, url: "http://127.0.0.1:1/", auth_env: TOK }'],
  ['agent.pass_env', 'agent: { type: command, command: [cat], pass_env: [TOK] }'],
  ['auth_env', 'agent: { type: a2a, card_url: "http://127.0.0.1:1/", auth_env: TOK }'],
  [
    'mcp[0].env',
    'agent: { type: openai, model: scripted-1 }\noffline_model: model.yaml\nmcp: [{ name: m, command: cat, env: [TOK] }]',
  ],
])(
  'a variable that is not set (%s): STOPPED with exit code 4, one message, and the process that lacks it',
  async (key, agent) => {
    place = await openWorkplace({ cases: ['one', 'two'] });
    place.write('suite.yaml', `name: tiny\nkind: smoke\ndatasets: [cases.yaml]\njudge: null\n${agent}\n`);
    const ran = await place.run('run', 'suite.yaml', '--id', 'lacking');
    expect(ran.code).toBe(4);
    expect(ran.out).toContain('STOPPED');
    const row = await findEvaluation(place.db, 'lacking');
    expect(row).toMatchObject({ status: 'stopped', stop_kind: 'unauthorized' });
    expect(row?.stop_message).toContain(`${key} names TOK, which is not set`);
    expect(row?.stop_message).toMatch(new RegExp(`Worker ${process.pid} on \\S+ lacks it: set it there and restart`));
  },
);
