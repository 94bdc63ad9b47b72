/** The examples in docstrings compile, and print what they say. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { beyondFailures, type DocBlock, printsOf } from '../support/docs/doc-blocks.ts';
import { type DocProject, docProject } from '../support/docs/doc-project.ts';
import { filesBelow, read } from '../support/files.ts';

const EXAMPLE = /@example\n((?: *\*.*\n)+)/g;
const DECLARED = /^\s*\*\/\n\s*(?:export )?(?:async )?(?:class |function |const )?(\w+)/;

const examples: readonly DocBlock[] = filesBelow('src', /(?<!generated)\.ts$/).flatMap(examplesOf);
let project: DocProject;

beforeAll(() => {
  project = docProject(examples);
});

afterAll(() => project.remove());

it('compile', async () => {
  expect(examples.length).toBeGreaterThan(15);
  expect(await project.compile()).toBe('');
});

it.each(examples.map((block) => [`${block.page} ${block.file}`, block] as const))(
  '%s prints what it says',
  async (_name, block) => {
    const { code, stdout, stderr } = await project.run(block.file ?? '');
    const printed = stdout.trimEnd().split('\n').filter(Boolean);
    expect({ code, printed, stderr: beyondFailures(stderr) }).toEqual({
      code: 0,
      printed: printsOf(block),
      stderr: '',
    });
  },
);

/** The examples of one source file, each as a file that is named after what it is an example of. */
function examplesOf(page: string): readonly DocBlock[] {
  const source = read(page);
  return [...source.matchAll(EXAMPLE)].map((match): DocBlock => {
    const lines = (match[1] ?? '').split('\n').map((line) => line.replace(/^ *\* ?/, ''));
    const from = lines.indexOf('```ts');
    const text = `${lines.slice(from + 1, lines.indexOf('```', from + 1)).join('\n')}\n`;
    const end = source.indexOf('*/', match.index);
    const name = DECLARED.exec(` ${source.slice(end)}`)?.[1] ?? `at-${match.index}`;
    const line = source.slice(0, match.index).split('\n').length;
    return { page, line, language: 'ts', file: `${name}.ts`, text };
  });
}
