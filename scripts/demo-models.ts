type Env = Readonly<Record<string, string | undefined>>;

export interface DemoModels {
  ASSAY_MODEL: string;
  ASSAY_JUDGE_MODEL: string;
}

const AGENT = 'gpt-5-mini';
const JUDGE = 'gpt-5';
const NAMES_SHOWN = 10;

/**
 * The models of `npm run demo` on an endpoint of the user's own: those that ASSAY_MODEL and ASSAY_JUDGE_MODEL name, else
 * OpenAI's where the endpoint has them, else the only one it has. The suites' own default is the scripted model's name.
 * @param listModels names of the endpoint's models; rejects where it gives none
 * @returns the models, or what to tell the user
 */
export async function demoModels(env: Env, listModels: () => Promise<string[]>): Promise<DemoModels | string> {
  const named = env['ASSAY_MODEL'] ?? '';
  const judge = env['ASSAY_JUDGE_MODEL'] ?? '';
  if (named !== '') return { ASSAY_MODEL: named, ASSAY_JUDGE_MODEL: judge === '' ? named : judge };
  const choose =
    'Set ASSAY_MODEL, and ASSAY_JUDGE_MODEL if the judge should be another one, to models of your endpoint';
  let names: string[];
  try {
    names = await listModels();
  } catch (error) {
    return `${choose} (it did not list them: ${error instanceof Error ? error.message : String(error)}).`;
  }
  const [first] = names;
  const agent = names.includes(AGENT) ? AGENT : names.length === 1 ? first : undefined;
  if (agent === undefined) {
    const shown = names.slice(0, NAMES_SHOWN).join(', ');
    return `${choose}${shown === '' ? '' : `: ${shown}${names.length > NAMES_SHOWN ? ', …' : ''}`}.`;
  }
  const other = agent === AGENT && names.includes(JUDGE) ? JUDGE : agent;
  return { ASSAY_MODEL: agent, ASSAY_JUDGE_MODEL: judge === '' ? other : judge };
}

/** `GET /models` of the endpoint that OPENAI_BASE_URL names, else OpenAI's. */
export async function listModels(env: Env): Promise<string[]> {
  const base = (env['OPENAI_BASE_URL'] ?? '') === '' ? 'https://api.openai.com/v1' : env['OPENAI_BASE_URL'];
  const key = env['OPENAI_API_KEY'] ?? '';
  const response = await fetch(`${(base ?? '').replace(/\/+$/, '')}/models`, {
    headers: key === '' ? {} : { authorization: `Bearer ${key}` },
    signal: AbortSignal.timeout(10_000),
  });
  const refused = response.status === 401 || response.status === 403;
  if (!response.ok) throw new Error(`HTTP ${response.status}${refused ? ', OPENAI_API_KEY is refused' : ''}`);
  const { data } = (await response.json()) as { data: { id: string }[] };
  return data.map(({ id }) => id);
}
