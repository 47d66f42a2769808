import { randomBytes } from 'node:crypto';
import type { EvalCase } from '../core/case.ts';
import { hashValue } from '../core/hash.ts';
import type { Json } from '../core/json.ts';
import type { Suite } from '../core/suite.ts';
import type { NewEvaluation } from './create-evaluation.ts';

/** What a loaded suite brings (datasets/load-suite.ts). */
export interface SuiteSource {
  suite: Suite;
  suitePath: string;
  suiteRoot: string;
  cases: EvalCase[];
  caseHashes: Map<string, string>;
  hashes: { suite: string; data: string; agent: string };
  judgeHash?: string | null;
}

export interface EvaluationOptions {
  env: Readonly<Record<string, string | undefined>>;
  now: Date;
  /** Given id; default: suite name, date and a random part. */
  id?: string;
  suffix?: string;
  trials?: number;
  concurrency?: number;
  budgetUsd?: number;
  labels?: Record<string, string>;
  failFast?: boolean;
  filters?: Json;
  baselineLabel?: string;
  scheduleId?: string | null;
  /** The evaluation whose trajectories are scored in place of running the agent. */
  sourceId?: string;
  /** Default true. */
  judgeCache?: boolean;
  /** The selected cases; default: all. */
  cases?: EvalCase[];
}

/** An evaluation of a suite as it is now, with the options of one run. The scripted model stands in when no endpoint is set. */
export function newEvaluation(source: SuiteSource, options: EvaluationOptions): NewEvaluation {
  const suite: Suite = {
    ...source.suite,
    ...(options.trials === undefined ? {} : { trials: options.trials }),
    ...(options.concurrency === undefined ? {} : { concurrency: options.concurrency }),
    ...(options.budgetUsd === undefined ? {} : { budget_usd: options.budgetUsd }),
    labels: { ...source.suite.labels, ...options.labels },
    regression: {
      ...source.suite.regression,
      ...(options.baselineLabel === undefined ? {} : { label: options.baselineLabel }),
    },
  };
  // --trials speaks for every case, also for one that names its own number.
  const cases = (options.cases ?? source.cases).map((one) =>
    options.trials === undefined ? one : { ...one, trials: options.trials },
  );
  const data =
    cases.length === source.cases.length
      ? source.hashes.data
      : hashValue(cases.map((one) => source.caseHashes.get(one.id) ?? ''));
  return {
    id: options.id ?? evaluationId(suite.name, options.now, options.suffix),
    suite,
    suitePath: source.suitePath,
    suiteRoot: source.suiteRoot,
    cases,
    caseHashes: source.caseHashes,
    hashes: { ...source.hashes, data },
    judgeHash: source.judgeHash ?? null,
    agentVersion: suite.agent.version ?? source.hashes.agent.slice(0, 12),
    offline: isOffline(suite, options.env),
    failFast: options.failFast ?? false,
    filters: options.filters ?? {},
    scheduleId: options.scheduleId ?? null,
    sourceId: options.sourceId ?? null,
    judgeCache: options.judgeCache ?? true,
  };
}

/** True when the suite's scripted model answers: it has one, and neither key nor endpoint is set. */
export function isOffline(suite: Suite, env: Readonly<Record<string, string | undefined>>): boolean {
  const set = (name: string): boolean => (env[name] ?? '') !== '';
  return suite.offline_model !== undefined && !set('OPENAI_API_KEY') && !set('OPENAI_BASE_URL');
}

/** As much of the suite's name as goes into an id: characters, not halves of them. */
const LONGEST_NAME = /^(.{40}).*$/su;

function evaluationId(suiteName: string, now: Date, suffix = randomBytes(3).toString('hex')): string {
  const stamp = now.toISOString().replaceAll(/[-:]/g, '').replace('T', '-').slice(0, 15);
  return `${idWord(suiteName)}-${stamp}-${suffix}`;
}

/**
 * A suite's name as ids begin with it, or `suite`: up to 40 lower-case letters and digits of any script, words joined by
 * hyphens. The accents of Latin letters go, so that an id can be typed anywhere.
 */
export function idWord(suiteName: string): string {
  const word = suiteName
    .normalize('NFKD')
    .replaceAll(/(?<=\p{Script=Latin})\p{M}+/gu, '')
    .normalize('NFC')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}]+/gu, '-')
    .replaceAll(/^-|-$/g, '')
    .replace(LONGEST_NAME, '$1');
  return word === '' ? 'suite' : word;
}
