import { CsvError, parse } from 'csv-parse/sync';
import type { Json, JsonObject } from '../../core/json.ts';
import { isJsonObject } from '../../core/json.ts';
import { parseJson, setOwn } from '../../core/lossless-json.ts';
import { LineIndex } from './line-index.ts';
import { errorAt } from './source.ts';
import type { Path, Place, Report, SourceValue } from './source.ts';

/** Longest record of a CSV file, bytes. */
const MAX_CSV_RECORD_BYTES = 16 * 1024 * 1024;

/** Columns whose cells are text whatever they look like: an id `007` stays `007`. */
const TEXT_COLUMNS = new Set(
  (
    'id input rubric category dimension difficulty timeout query case goal referenceAnswer expected.answer ' +
    'expected.criteria expected.answer_equals expected.final_status expected.match'
  ).split(' '),
);
const NUMBER_COLUMNS = new Set(
  (
    'trials min_steps timeout_ms expected.max_iterations expected.max_tokens expected.max_tool_calls ' +
    'expected.max_latency_ms expected.max_cost expected.number'
  ).split(' '),
);
/** Columns of names: `a; b` or `a | b` is a list. */
const NAME_COLUMNS = new Set(
  (
    'tags expected.must_call expected.must_not_call expected.steps expected.doc_ids expected.approvals ' +
    'mock.fixtures tools'
  ).split(' '),
);

/** Columns of structure: JSON in the cell. */
const JSON_COLUMNS = new Set(
  (
    'messages turns expected context mock metadata expected.calls expected.any_of expected.answer_json expected.state ' +
    'expected.calls_per_tool expected.injection expected.prompt_segments context.memory context.documents context.prompt_segments context.sub_agents mock.state ' +
    'mock.tools'
  ).split(' '),
);

interface Row {
  cells: string[];
  offset: number;
  raw: string;
}

/**
 * Reads a CSV text (RFC 4180; comma, semicolon or tab, detected from the header; quoted cells may hold line ends).
 * The first row names the columns: keys of a case, dotted for nested ones (`expected.answer`); structured fields are JSON
 * in the cell; an empty cell is an absent field. Problems carry the line and column of their cell.
 * @param mustHave a column without which the file is not what is read
 */
export function* readCsv(text: string, file: string, report: Report, mustHave = 'id'): Generator<SourceValue> {
  const lines = new LineIndex(text);
  const placeAt = (offset: number): Place => ({ file, ...lines.at(offset) });
  const delimiter = detectDelimiter(text);
  const rows = parseRows(text, delimiter, placeAt, report);
  if (rows === null) return;
  const [header, ...body] = rows;
  if (header === undefined) return;
  const columns = header.cells.map((name) => name.trim());
  const headerPlace = (index: number): Place => placeAt(header.offset + cellOffset(header.raw, index, delimiter));
  if (!checkHeader(columns, mustHave, headerPlace, report)) return;
  for (const row of body) {
    const cellPlace = (index: number): Place => placeAt(row.offset + cellOffset(row.raw, index, delimiter));
    if (row.cells.length !== columns.length) {
      const where = cellPlace(Math.min(row.cells.length, columns.length) - 1);
      const cause = row.cells.length > columns.length ? unquoted(delimiter) : '';
      report(errorAt(where, `${row.cells.length} cells, the header has ${columns.length}${cause}`));
      continue;
    }
    const value = rowValue(columns, row.cells, cellPlace, report);
    if (value !== null) yield rowSource(value, columns, headerPlace, cellPlace);
  }
}

function unquoted(delimiter: string): string {
  return `; a cell that holds ${delimiter === '\t' ? 'a tab' : `"${delimiter}"`} or JSON is quoted: "{""tool"": ""x""}"`;
}

function detectDelimiter(text: string): string {
  const counts: Record<string, number> = { ',': 0, ';': 0, '\t': 0 };
  let quoted = false;
  for (const char of text.slice(0, 64 * 1024)) {
    if (char === '"') quoted = !quoted;
    if (!quoted && (char === '\n' || char === '\r')) break;
    if (!quoted && counts[char] !== undefined) counts[char]++;
  }
  return Object.entries(counts).reduce((best, next) => (next[1] > best[1] ? next : best))[0];
}

function parseRows(text: string, delimiter: string, placeAt: (offset: number) => Place, report: Report): Row[] | null {
  try {
    const parsed = parse(text, {
      delimiter,
      raw: true,
      relax_column_count: true,
      relax_quotes: true,
      skip_empty_lines: true,
      record_delimiter: ['\r\n', '\n', '\r'],
      max_record_size: MAX_CSV_RECORD_BYTES,
    }) as unknown as { record: string[]; raw: string }[];
    let from = 0;
    return parsed.map(({ record, raw }) => {
      const body = raw.replace(/[\r\n]+$/, '');
      const offset = Math.max(from, text.indexOf(body, from));
      from = offset + body.length;
      return { cells: record, offset, raw: body };
    });
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const line = /line (\d+)/.exec(error.message)?.[1];
    const place = { ...placeAt(0), line: line === undefined ? 1 : Number(line), column: 1 };
    report(errorAt(place, `not CSV: ${error.message}`));
    return null;
  }
}

function checkHeader(columns: string[], mustHave: string, place: (index: number) => Place, report: Report): boolean {
  let good = true;
  columns.forEach((name, index) => {
    if (name === '') report(errorAt(place(index), `column ${index + 1} has no name`));
    else if (columns.indexOf(name) !== index) report(errorAt(place(index), `column "${name}" is there twice`));
    else return;
    good = false;
  });
  if (good && !columns.includes(mustHave)) {
    report(errorAt(place(0), `no column "${mustHave}"; the columns are ${columns.join(', ')}`));
    good = false;
  }
  return good;
}

function rowValue(
  columns: string[],
  cells: string[],
  place: (index: number) => Place,
  report: Report,
): JsonObject | null {
  const value: JsonObject = {};
  let good = true;
  columns.forEach((column, index) => {
    const cell = cells[index] ?? '';
    if (cell === '') return;
    const parsed = cellValue(column, cell);
    if (!parsed.ok) report(errorAt(place(index), `column "${column}": ${parsed.error}`));
    else if (setAt(value, column.split('.'), parsed.value)) return;
    else report(errorAt(place(index), `column "${column}": its parent column has a value that is not an object`));
    good = false;
  });
  return good ? value : null;
}

function cellValue(column: string, cell: string): { ok: true; value: Json } | { ok: false; error: string } {
  if (TEXT_COLUMNS.has(column)) return { ok: true, value: cell };
  const text = cell.trim();
  if (NUMBER_COLUMNS.has(column) && !text.startsWith('{')) {
    const number = parseJson(text);
    if (number.ok && typeof number.value === 'number') return { ok: true, value: number.value };
    return { ok: false, error: `expected a number, got ${JSON.stringify(cell)}` };
  }
  if (text.startsWith('[') || text.startsWith('{')) {
    const parsed = parseJson(text, { duplicateKeys: 'refuse' });
    if (parsed.ok) return { ok: true, value: parsed.value };
    return { ok: false, error: `not JSON: ${parsed.error} (character ${parsed.offset + 1} of the cell)` };
  }
  if (NAME_COLUMNS.has(column)) {
    const names = text.split(/[;|]/).map((name) => name.trim());
    return { ok: true, value: names.filter((name) => name !== '') };
  }
  if (text === 'null') return { ok: true, value: null };
  if (JSON_COLUMNS.has(column)) {
    const example = column === 'expected.calls' ? ', such as [{"tool": "refund", "args": {"order": 88}}]' : '';
    return { ok: false, error: `write JSON in the cell${example}; got ${JSON.stringify(cell)}` };
  }
  if (column === 'expected.ignore_case' && /^(true|false)$/i.test(text)) {
    return { ok: true, value: text.toLowerCase() === 'true' };
  }
  return { ok: true, value: cell };
}

function setAt(target: JsonObject, path: string[], value: Json): boolean {
  const [key, ...rest] = path;
  if (key === undefined) return false;
  if (rest.length === 0) {
    setOwn(target, key, value);
    return true;
  }
  if (!Object.hasOwn(target, key)) setOwn(target, key, {});
  const inner = target[key];
  return isJsonObject(inner) && setAt(inner, rest, value);
}

function rowSource(
  value: JsonObject,
  columns: string[],
  headerPlace: (index: number) => Place,
  cellPlace: (index: number) => Place,
): SourceValue {
  const place = (path: Path, target: 'key' | 'value' = 'value'): Place => {
    const dotted = path.join('.');
    const index = columns.findIndex((column) => dotted === column || dotted.startsWith(`${column}.`));
    if (index === -1) return cellPlace(0);
    return target === 'key' && dotted === columns[index] ? headerPlace(index) : cellPlace(index);
  };
  return { value, place, placeOfText: (path) => place(path), lostForms: [] };
}

/** Where the cell with this index starts in the raw text of its record. */
function cellOffset(raw: string, index: number, delimiter: string): number {
  let at = 0;
  for (let cell = 0; cell < index; cell++) {
    if (raw[at] === '"') {
      at++;
      while (at < raw.length && !(raw[at] === '"' && raw[at + 1] !== '"')) at += raw[at] === '"' ? 2 : 1;
    }
    while (at < raw.length && raw[at] !== delimiter) at++;
    at++;
  }
  return Math.min(at, Math.max(0, raw.length - 1));
}
