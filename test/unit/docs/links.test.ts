import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const root = path.resolve(import.meta.dirname, '../../..');
const pages = globSync(['*.md', 'docs/**/*.md', 'examples/**/*.md', 'bench/*.md'], { cwd: root });
const read = (page: string): string => readFileSync(path.join(root, page), 'utf8').replaceAll(/^```[\s\S]*?^```/gm, '');

/** The anchors GitHub gives the headings of a page. */
function anchors(page: string): string[] {
  return [...read(page).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

/** Relative links of a page that lead nowhere. */
function broken(page: string): string[] {
  return [...read(page).matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, link = '']) => {
    if (/^[a-z]+:/.test(link)) return [];
    const [file = '', anchor] = link.split('#');
    const target = file === '' ? page : path.join(path.dirname(page), file);
    if (!existsSync(path.join(root, target))) return [`${link}: no such file`];
    if (anchor !== undefined && target.endsWith('.md') && !anchors(target).includes(anchor))
      return [`${link}: no such heading`];
    return [];
  });
}

test('there are pages and links to check', () => {
  expect(pages.length).toBeGreaterThan(15);
  expect(read('docs/README.md')).toMatch(/\]\(install\.md\)/);
});

test.each(pages)('%s: every link leads somewhere', (page) => {
  expect(broken(page)).toEqual([]);
});

test('docs/README.md names every page of docs/', () => {
  const named = read('docs/README.md');
  const missing = globSync('docs/*.md', { cwd: root }).filter((page) => !named.includes(`(${path.basename(page)})`));
  expect(missing).toEqual(['docs/README.md']);
});
