import { isJsonObject } from '../../core/json.ts';
import type { Json, JsonObject } from '../../core/json.ts';
import type { AgentArtifact, ArtifactPart } from '../../core/trajectory.ts';

/** What a record says was handed over beside the answer; null: nothing. A text says what is wrong with it. */
export function artifactsOf(value: Json): AgentArtifact[] | string | null {
  if (value === null) return null;
  if (!Array.isArray(value)) return 'expected a list of artifacts';
  const artifacts: AgentArtifact[] = [];
  for (const [at, raw] of value.entries()) {
    const parts = isJsonObject(raw) && Array.isArray(raw['parts']) ? raw['parts'].map(partOf) : [null];
    if (!isJsonObject(raw) || parts.includes(null))
      return `artifact ${at + 1}: expected {id, name, parts: [{kind, …}]}`;
    artifacts.push({
      id: textOf(raw, 'id') ?? String(at),
      name: textOf(raw, 'name'),
      description: textOf(raw, 'description'),
      parts: parts.filter((part) => part !== null),
    });
  }
  return artifacts;
}

function partOf(raw: Json): ArtifactPart | null {
  if (!isJsonObject(raw)) return null;
  const { kind, data = null, bytes } = raw;
  const type = textOf(raw, 'media_type');
  if (kind === 'text') {
    const text = textOf(raw, 'text');
    return text === null ? null : { kind, text, media_type: type ?? 'text/plain' };
  }
  if (kind === 'data') return { kind, data, media_type: type ?? 'application/json' };
  if (kind !== 'file') return null;
  return {
    kind,
    filename: textOf(raw, 'filename'),
    media_type: type ?? 'application/octet-stream',
    url: textOf(raw, 'url'),
    bytes: typeof bytes === 'number' ? bytes : null,
    sha256: textOf(raw, 'sha256'),
    base64: textOf(raw, 'base64'),
  };
}

function textOf(source: JsonObject, key: string): string | null {
  const value = source[key];
  return typeof value === 'string' ? value : null;
}
