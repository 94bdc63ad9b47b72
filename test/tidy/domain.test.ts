/** The rules of src/domain/ are those that run: nothing in it is for tests alone. */
import { expect, it } from 'vitest';
import { codeOf, filesBelow, read } from '../support/files.ts';

const EXPORT = /^export (?:abstract )?(?:async )?(const|function\*?|class|interface|type) (\w+)/gm;

/** What runs: the package, but for the suite that it gives to others' backends, and what makes the scripts. */
const running = [
  ...filesBelow('src', /\.ts$/).filter((path) => !/^src\/(testing|conformance)\//.test(path)),
  ...filesBelow('scripts', /\/lua\/[\w-]+\.ts$/),
].map((path) => ({ path, code: codeOf(read(path)) }));

/** An export, and who else names it. */
function exportsOf(path: string, code: string): readonly { name: string; isUsed: boolean }[] {
  return [...code.matchAll(EXPORT)].map(([, kind = '', name = '']) => {
    const word = new RegExp(`\\b${name}\\b`, 'g');
    // A type may be named by what it belongs to, and by nothing else.
    const isOwn = (kind === 'type' || kind === 'interface') && (code.match(word)?.length ?? 0) > 1;
    const isNamed = running.some((other) => other.path !== path && other.code.search(word) >= 0);
    return { name, isUsed: isOwn || isNamed };
  });
}

it('every export of src/domain/ is used by what runs', () => {
  const domain = running.filter(({ path }) => path.startsWith('src/domain/'));
  const all = domain.flatMap(({ path, code }) =>
    exportsOf(path, code).map((one) => ({ ...one, name: `${path}: ${one.name}` })),
  );
  expect(all.length).toBeGreaterThan(300);
  expect(all.filter(({ isUsed }) => !isUsed).map(({ name }) => name)).toEqual([]);
});
