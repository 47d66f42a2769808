import type { Json, JsonObject } from '../core/json.ts';
import { isJsonObject } from '../core/json.ts';
import { setOwn } from '../core/lossless-json.ts';
import { errorAt, formatPath } from './readers/source.ts';
import type { Path, Report, SourceValue } from './readers/source.ts';

/** The only fields in which `${NAME}` and `${NAME:-default}` are replaced: none of them can carry a secret into a report. */
const ENV_FIELDS = ['agent.model', 'agent.base_url', 'agent.url', 'judge.model', 'judge.base_url'] as const;

const REFERENCE = /\$?\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g;

/**
 * Replaces environment references in the listed fields. Elsewhere one is an error; `$${NAME}` writes `${NAME}` there.
 * An unset or empty variable takes its default; without one it is an error.
 */
export function expandEnv(source: SourceValue, env: Record<string, string | undefined>, report: Report): SourceValue {
  const walk = (value: Json, path: Path): Json => {
    if (typeof value === 'string') return value.includes('${') ? expand(value, path) : value;
    if (Array.isArray(value)) return value.map((item, i) => walk(item, [...path, i]));
    if (!isJsonObject(value)) return value;
    const out: JsonObject = {};
    for (const [key, inner] of Object.entries(value)) setOwn(out, key, walk(inner, [...path, key]));
    return out;
  };
  const expand = (text: string, path: Path): string => {
    const field = formatPath(path);
    const listed = (ENV_FIELDS as readonly string[]).includes(field);
    return text.replace(REFERENCE, (reference: string, name: string, fallback: string | undefined) => {
      if (reference.startsWith('$$')) return reference.slice(1);
      if (!listed) {
        const advice = `write $${reference} when the text is meant`;
        report(
          errorAt(source.place(path), `${field}: ${reference} is replaced only in ${ENV_FIELDS.join(', ')}; ${advice}`),
        );
        return reference;
      }
      const value = env[name];
      if (value !== undefined && value !== '') return value;
      if (fallback !== undefined) return fallback;
      const advice = `set it, or write \${${name}:-default}`;
      report(errorAt(source.place(path), `${field}: the environment variable ${name} is not set; ${advice}`));
      return reference;
    });
  };
  return { ...source, value: walk(source.value, []) };
}
