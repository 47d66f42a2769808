import { expect, test } from 'vitest';
import { composeProblems, fillRequired } from '../../../scripts/compose-rules.ts';

const healthy = { image: 'a/b:1.2.3', restart: 'unless-stopped', healthcheck: { test: ['CMD', 'true'] } };
const all = (): boolean => true;

function problems(services: object, volumes: object = {}): string[] {
  return composeProblems({ services, volumes }, all);
}

test('a sound file has no problems', () => {
  const once = { image: 'a/b:1.2.3', restart: 'on-failure:3' };
  const app = { ...healthy, depends_on: { once: { condition: 'service_completed_successfully' } } };
  expect(problems({ once, app })).toEqual([]);
});

test.each([
  ['latest', /not pinned/],
  ['24-slim', /not pinned/],
])('an image with tag %s is refused', (tag, expected) => {
  expect(problems({ app: { ...healthy, image: `a/b:${tag}` } }).join()).toMatch(expected);
});

test('an image without tag, of a registry with a port, is refused', () => {
  expect(problems({ app: { ...healthy, image: 'registry:5000/a/b' } }).join()).toMatch(/has no tag/);
});

test('the deprecated auto-setup image is refused', () => {
  expect(problems({ app: { ...healthy, image: 'temporalio/auto-setup:1.29.1' } }).join()).toMatch(/deprecated/);
});

test('a dependency that does not exist, or has no health to wait for, is refused', () => {
  const app = { ...healthy, depends_on: { ghost: { condition: 'service_healthy' } } };
  expect(problems({ app }).join()).toMatch(/ghost, which does not exist/);
  const sick = { image: 'a/b:1.2.3', restart: 'always' };
  const needs = { ...healthy, depends_on: { sick: { condition: 'service_healthy' } } };
  expect(problems({ sick, needs }).join()).toMatch(/waits for the health of sick/);
});

test('a long-running service without health check or restart is refused', () => {
  expect(problems({ app: { image: 'a/b:1.2.3' } })).toHaveLength(2);
  expect(problems({ app: { ...healthy, healthcheck: { disable: true } } }).join()).toMatch(/no health check/);
});

test('a password with a default, and a port open to the network, are refused', () => {
  expect(problems({ app: { ...healthy, environment: { DB_PASSWORD: 'temporal' } } }).join()).toMatch(/has a default/);
  const url = { DATABASE_URL: 'postgresql://a:secret@db/a' };
  expect(problems({ app: { ...healthy, environment: url } }).join()).toMatch(/DATABASE_URL has a default/);
  const filled = { DATABASE_URL: fillRequired('postgresql://a:${X:?}@db/a', ['X']) };
  expect(problems({ app: { ...healthy, environment: filled } })).toEqual([]);
  expect(problems({ app: { ...healthy, ports: [{ published: '5432' }] } }).join()).toMatch(/beyond this machine/);
});

test('undeclared volumes and missing mounts are refused', () => {
  const app = { ...healthy, volumes: [{ type: 'volume', source: 'data' }] };
  expect(problems({ app }).join()).toMatch(/data, which is not declared/);
  expect(problems({ app }, { data: null })).toEqual([]);
  const bind = { ...healthy, volumes: [{ type: 'bind', source: '/nowhere' }] };
  expect(composeProblems({ services: { bind } }, () => false).join()).toMatch(/does not exist/);
});

test('fillRequired fills only required variables that are named', () => {
  expect(fillRequired('${A:?why} ${B:?} ${A:-x} ${A}', ['A'])).toBe('placeholder0 ${B:?} ${A:-x} ${A}');
});
