/** Every option of the configuration is documented, and has a test that shows what it does. */
import { describe, expect, it } from 'vitest';
import { renderConfiguration } from '../../../scripts/docs/config-doc.ts';
import { ROOT } from '../../../src/config/options.ts';
import { optionsOf } from '../../../src/config/schema.ts';
import { filesBelow, read } from '../../support/files.ts';

const paths = optionsOf(ROOT).map(({ path }) => path);

describe('docs/configuration.md', () => {
  it('has the reference that "npm run docs" writes', () => {
    const page = read('docs/configuration.md');
    expect(page).toBe(renderConfiguration(page));
  });
});

describe('the tests of options', () => {
  const files = filesBelow('test/config', /\/options-[a-z]+\.test\.ts$/);
  const titles = files.flatMap((file) =>
    [...read(file).matchAll(/\bit(?:\.each\([\s\S]*?\]\))?\(\s*'([^']+)'/g)].map(
      ([, title = '']) => title,
    ),
  );

  it('have one that is named after each option', () => {
    const untested = paths.filter((path) => !titles.some((title) => title.startsWith(`${path} `)));
    expect(paths.length).toBeGreaterThan(50);
    expect(untested).toEqual([]);
  });

  it('are named after no option that there is not', () => {
    const named = titles.flatMap((title) => /^[a-z]\w*(?:\.[\w*]+)+(?= )/i.exec(title)?.[0] ?? []);
    expect(named.length).toBeGreaterThan(50);
    expect(named.filter((path) => !paths.includes(path))).toEqual([]);
  });
});
