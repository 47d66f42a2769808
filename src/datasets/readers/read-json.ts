import type { JsonNode } from '../../core/lossless-json.ts';
import { parseJson, parseJsonTree } from '../../core/lossless-json.ts';
import { LineIndex } from './line-index.ts';
import { errorAt } from './source.ts';
import type { Path, Place, Report, SourceValue } from './source.ts';

/**
 * Parses a JSON text with the place of every part. Strict JSON; duplicate keys are errors; numbers keep their value
 * (see core/lossless-json.ts). Gives null after reporting when the text is not JSON.
 * @param firstLine line number of the text's first line in its file (JSON lines)
 */
export function parseJsonSource(text: string, file: string, report: Report, firstLine = 1): SourceValue | null {
  const parsed = parseJson(text, { duplicateKeys: 'refuse' });
  if (!parsed.ok) {
    report(errorAt(placeAt(new LineIndex(text), parsed.offset, file, firstLine), `not JSON: ${parsed.error}`));
    return null;
  }
  // Places are asked for only when something is wrong: the tree of offsets is built then.
  let located: { lines: LineIndex; root: JsonNode } | null = null;
  const locate = (): { lines: LineIndex; root: JsonNode } => {
    if (located === null) {
      const tree = parseJsonTree(text, { duplicateKeys: 'refuse' });
      if (!tree.ok) throw new Error('a text that parsed before does not parse now');
      located = { lines: new LineIndex(text), root: tree.root };
    }
    return located;
  };
  return {
    value: parsed.value,
    place: (path, target) => {
      const first = placeOfFirstMember(text, path, target ?? 'value');
      if (first !== null) return { file, ...first, line: first.line + firstLine - 1 };
      const { lines, root } = locate();
      return placeAt(lines, offsetOf(root, path, target ?? 'value'), file, firstLine);
    },
    placeOfText: (path, needle) => {
      const { lines, root } = locate();
      const start = offsetOf(root, path, 'value');
      const found = text.indexOf(needle, start);
      return placeAt(lines, found === -1 ? start : found, file, firstLine);
    },
    lostForms: [],
  };
}

/**
 * The place of an object's first member, without a tree: every case is asked for the place of its id, which most often
 * comes first. Null when the path leads elsewhere, or over a line end.
 */
function placeOfFirstMember(
  text: string,
  path: Path,
  target: 'key' | 'value',
): { line: number; column: number } | null {
  const [name] = path;
  if (path.length !== 1 || typeof name !== 'string') return null;
  const found = /^([ \t]*\{[ \t]*)"([^"\\\r\n]*)"[ \t]*:[ \t]*/.exec(text);
  if (found?.[1] === undefined || found[2] !== name) return null;
  return { line: 1, column: 1 + (target === 'key' ? found[1] : found[0]).length };
}

function offsetOf(root: JsonNode, path: Path, target: 'key' | 'value'): number {
  let node = root;
  let key = root.start;
  for (const step of path) {
    const child = node.children.get(step);
    if (child === undefined) return node === root ? root.start : node.start;
    node = child.node;
    key = child.key;
  }
  return target === 'key' ? key : node.start;
}

function placeAt(lines: LineIndex, offset: number, file: string, firstLine: number): Place {
  const { line, column } = lines.at(offset);
  return { file, line: line + firstLine - 1, column };
}
