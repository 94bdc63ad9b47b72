/** What a newcomer needs before the first sample runs. */
import { expect, it } from 'vitest';
import { read } from '../../support/files.ts';

/** Scripts that npm runs, or warns of, when the package is installed. */
const ON_INSTALL = ['preinstall', 'install', 'postinstall', 'prepublish', 'preprepare', 'prepare'];

// F121
it('the README says how the package is installed, and how its samples run', () => {
  const readme = read('README.md');
  const [before = ''] = readme.split('\n## ');
  expect(before).toContain('npm install fairloom');
  expect(before).toContain('"type": "module"');
  expect(before).toMatch(/npx tsx \w+\.ts/);
  expect(readme).toContain('// web.ts');
});

// F121
it('the package runs nothing when it is installed', () => {
  const { scripts } = JSON.parse(read('package.json')) as { readonly scripts: object };
  expect(Object.keys(scripts).filter((name) => ON_INSTALL.includes(name))).toEqual([]);
});
