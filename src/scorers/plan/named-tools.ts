/** A name that no sentence holds by chance: it has an underscore, a digit, a capital inside, or joins words. */
function isIdentifier(name: string): boolean {
  return /^[\w.:/-]+$/.test(name) && /[_\d.:/-]|[a-z][A-Z]/.test(name);
}

function escaped(name: string): string {
  return name.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&');
}

/** Where a name may stand to count as the tool's, as a regular expression. */
function placeOf(name: string): string {
  const inText = `(?<![A-Za-z0-9_])${escaped(name)}(?![A-Za-z0-9_])`;
  if (isIdentifier(name)) return inText;
  // A plain word ("search") is only the tool where it is written as one: quoted, called, or the whole step.
  const whole = `(?<=^(?:(?:\\d{1,9}[.):、]|[-*•])\\s{0,9})?)${escaped(name)}(?=\\s{0,9}[.。;；]?$)`;
  return `(?<=[\`"'])${escaped(name)}(?=[\`"'])|(?<![A-Za-z0-9_])${escaped(name)}(?=\\()|${whole}`;
}

/**
 * Finds the tools that lines of a plan name, in the order they stand in each line, each once a line. Identifiers
 * (`query_energy`, `weatherTool`) are found anywhere in a line; a plain word (`search`) only in quotes or backticks,
 * before `(`, or as the whole line, so that prose is not taken for a tool. Case counts.
 */
export function toolNamer(tools: Iterable<string>): (line: string) => string[] {
  // The longer name first: `orders.list_all` is not `list_all`.
  const names = [...new Set(tools)]
    .filter((name) => name !== '')
    .sort((a, b) => b.length - a.length || (a < b ? -1 : 1));
  if (names.length === 0) return () => [];
  const places = new RegExp(names.map((name) => `(${placeOf(name)})`).join('|'), 'g');
  return (line) => [...new Set([...line.trim().matchAll(places)].map(([name]) => name))];
}
