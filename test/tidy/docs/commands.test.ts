/** Commands that the pages show exist, and docs/cli.md names every one. */
import { describe, expect, it } from 'vitest';
import { EXIT } from '../../../src/cli/terminal/exit-code.ts';
import { allCommands, helpOf } from '../../support/docs/cli-help.ts';
import { blocksOf, docPages } from '../../support/docs/doc-blocks.ts';
import { read, trackedFiles } from '../../support/files.ts';
import { LAYERS } from '../../support/layers.ts';

const lines = [...new Set(docPages().flatMap((page) => [...shell(page), ...inline(page)]))];
const files = new Set(trackedFiles());
const SCRIPTS: Readonly<Record<string, string>> = JSON.parse(read('package.json')).scripts;
/** Scripts of package.json that the pages tell to run. */
const shown = new Set(lines.flatMap((line) => /^npm run (\S+)/.exec(line)?.[1] ?? []));

/** Commands of the shell blocks, without comments and variables set in front. */
function shell(page: string): readonly string[] {
  return blocksOf(page)
    .filter(({ language }) => language === 'sh')
    .flatMap(({ text }) => text.trimEnd().split('\n'))
    .map((line) => line.replace(/\s+#.*$/, '').replace(/^(?:[A-Z_]+=\S+ )+/, ''))
    .flatMap((line) => line.split(/\s*&&\s*/))
    .map((line) => line.trim().replace(/^npx (?=fairloom )/, ''))
    .filter((line) => line !== '');
}

/** Commands in running text; what stands in angle brackets is the reader's. */
function inline(page: string): readonly string[] {
  const prose = read(page)
    .replaceAll(/```[\s\S]*?```/g, '')
    .replaceAll('\n', ' ');
  return [...prose.matchAll(/`((?:npm run|npm test|npx tsx|fairloom) [^`…]+)`/g)]
    .map(([, command = '']) => command.replaceAll(/<[^>]*>/g, ''))
    .flatMap((line) => line.split(/\s*&&\s*/));
}

describe('commands in the pages', () => {
  it('that start with npm or npx are in the repository', () => {
    const layers = ['static', 'package', ...LAYERS.map(({ name }) => name)];
    const ours = lines.filter((line) => /^np[mx] /.test(line));
    const unknown = ours.filter((line) => {
      const [, verb = '', name = ''] = line.split(/\s+/);
      const layer = /--layer (\S+)/.exec(line)?.[1];
      if (layer !== undefined && !layers.includes(layer)) return true;
      if (line.startsWith('npx')) return verb === 'tsx' && !files.has(name);
      return verb === 'run'
        ? SCRIPTS[name] === undefined
        : !['ci', 'test', 'install'].includes(verb);
    });
    expect(ours.length).toBeGreaterThan(5);
    expect(unknown).toEqual([]);
  });

  it('run programs that exist', () => {
    const programs = [...shown].map((name) => /^(?:tsx|node) (\S+\.ts)/.exec(SCRIPTS[name] ?? ''));
    const missing = programs.filter((found) => found !== null && !files.has(found[1] ?? ''));
    expect(missing.map((found) => found?.[0])).toEqual([]);
  });

  it.each(lines.filter((line) => line.startsWith('fairloom ')))('%s', async (line) => {
    const words = line.match(/'[^']*'|\S+/g)?.slice(1) ?? [];
    const verbs = words.slice(0, 2).filter((word) => /^[a-z][a-z-]*$/.test(word));
    const usage = await usageOf(verbs);
    expect(usage).not.toBe('');
    for (const flag of words.filter((word) => /^--?[a-z]/.test(word))) {
      expect(usage).toMatch(new RegExp(`(^|[\\s,])${flag}\\b`, 'm'));
    }
  });
});

/** The help of the longest command that the words name. */
async function usageOf(verbs: readonly string[]): Promise<string> {
  for (let length = verbs.length; length >= 0; length--) {
    const words = verbs.slice(0, length);
    const help = await helpOf(words);
    if (help.includes(`Usage: ${['fairloom', ...words].join(' ')} `)) {
      return length > 0 || verbs.length === 0 ? help : '';
    }
  }
  return '';
}

describe('docs/cli.md', () => {
  const page = read('docs/cli.md');

  it('names every command and no other', async () => {
    const written = [...page.matchAll(/^\| `fairloom ([a-z -]+?)(?: <[^`]*)?` \|/gm)].map(
      ([, command = '']) => command,
    );
    expect(written.toSorted()).toEqual((await allCommands()).toSorted());
  });

  it('names every exit code', () => {
    const written = [...page.matchAll(/^\| (\d) \|/gm)].map(([, code]) => Number(code));
    expect(written).toEqual(Object.values(EXIT));
  });
});
