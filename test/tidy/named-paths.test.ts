/** Paths that pages and comments name are there: in the package, or in the repository. */
import { execFileSync } from 'node:child_process';
import { beforeAll, describe, expect, it } from 'vitest';
import { docPages } from '../support/docs/doc-blocks.ts';
import { read, trackedFiles } from '../support/files.ts';
import { ROOT } from '../support/processes/run-process.ts';

const tracked = trackedFiles();

/** `ops/compose.yaml`, `examples/workflows/`, `src/engine/`, `test/config/options-*.test.ts`. */
const PATH = /`((?:docs|examples|ops|bench|etc|lua|scripts|src|test)\/[^`\s]*)`/g;

/** Folders that users get. What else pages name is of the repository, as README says. */
const SHIPPED = /^(docs|examples|ops)\//;

function pathsIn(page: string): readonly string[] {
  return [...read(page).matchAll(PATH)].map(([, path = '']) => path.replace(/#.*/, ''));
}

/** Whether one of the files is the path, lies in it, or is what a path with stars and names means. */
function isAmong(files: readonly string[], path: string): boolean {
  if (files.includes(path)) return true;
  if (path.endsWith('/')) return files.some((file) => file.startsWith(path));
  if (!/[*<]/.test(path)) return false;
  const stars = path.replaceAll(/<\w+>|\*+\/?/g, '*').split('*');
  const pattern = stars.map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&')).join('.*');
  return files.some((file) => new RegExp(`^${pattern}$`).test(file));
}

// F40
describe('what is in the package', () => {
  let packed: readonly string[];

  beforeAll(() => {
    const args = ['pack', '--dry-run', '--json', '--ignore-scripts'];
    const out = execFileSync('npm', args, { cwd: ROOT, encoding: 'utf8', stdio: 'pipe' });
    const [tarball]: { readonly files: readonly { readonly path: string }[] }[] = JSON.parse(out);
    packed = (tarball?.files ?? []).map(({ path }) => path);
  });

  const pages = docPages();

  it('is every page that is written for users', () => {
    expect(pages.filter((page) => !packed.includes(page))).toEqual([]);
  });

  it('is what its pages name, but for sources and tests', () => {
    const missing = pages.flatMap((page) =>
      pathsIn(page)
        .filter((path) => SHIPPED.test(path) && !isAmong(packed, path))
        .map((path) => `${page}: ${path}`),
    );
    expect(missing).toEqual([]);
  });

  it('is what its pages link to', () => {
    const missing = pages.flatMap((page) =>
      [...read(page).matchAll(/\]\(([^)\s#]+)[^)]*\)/g)]
        .map(([, target = '']) => target)
        .filter((target) => !/^[a-z]+:/.test(target))
        .map((target) => new URL(target, `file:///${page}`).pathname.slice(1))
        .filter((path) => !isAmong(packed, path))
        .map((path) => `${page}: ${path}`),
    );
    expect(missing).toEqual([]);
  });
});

// F40
describe('what is in the repository', () => {
  it('is every path of sources, tests and tools that a page names', () => {
    const missing = docPages().flatMap((page) =>
      pathsIn(page)
        .filter(
          (path) => !isAmong(tracked, path) && !isAmong(tracked, `src/backends/redis/${path}`),
        )
        .map((path) => `${page}: ${path}`),
    );
    expect(missing).toEqual([]);
    expect(read('README.md')).toMatch(
      /Paths below `src\/`, `test\/`[^.]* are\s+paths of the repository/,
    );
  });

  it('is every page and test that a comment names', () => {
    const named = /\b(?:docs\/[\w/-]+\.md|test\/[\w/.-]+\.ts)\b/g;
    const missing = tracked
      .filter((file) => !file.endsWith('.md') && !/(^|\/)package(-lock)?\.json$/.test(file))
      .flatMap((file) =>
        [...read(file).matchAll(named)]
          .map(([path]) => path)
          .filter((path) => !tracked.includes(path))
          .map((path) => `${file}: ${path}`),
      );
    expect(missing).toEqual([]);
  });
});

// F40
describe('SECURITY.md', () => {
  const page = read('SECURITY.md').replaceAll(/\s+/g, ' ');
  const manifest: {
    readonly dependencies: Readonly<Record<string, string>>;
    readonly peerDependencies: Readonly<Record<string, string>>;
    readonly scripts: Readonly<Record<string, string>>;
  } = JSON.parse(read('package.json'));
  const row = /\| Supply chain \|[^|]*\|/.exec(page)?.[0] ?? '';
  const named = (part: string): readonly string[] =>
    [...part.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name).sort();
  const [own = '', peers = ''] = row.split('Optional peers');

  it('counts and names the dependencies of the package, and those that are optional', () => {
    const names = Object.keys(manifest.dependencies).sort();
    expect(named(own)).toEqual(names);
    expect(row).toContain(`${['No', 'One', 'Two', 'Three', 'Four'][names.length]} runtime depend`);
    expect(named(peers)).toEqual(Object.keys(manifest.peerDependencies).sort());
  });

  it('is right that they bring nothing else, and that nothing runs when they are installed', () => {
    const manifests = Object.keys(manifest.dependencies).map((name) => {
      const text = read(`node_modules/${name}/package.json`);
      return { name, ...(JSON.parse(text) as Partial<typeof manifest>) };
    });
    const installs = [manifest, ...manifests].flatMap(({ scripts }) =>
      Object.keys(scripts ?? {}).filter((name) => /^(pre|post)?install$|^prepare$/.test(name)),
    );
    expect(
      manifests.filter(({ dependencies }) => Object.keys(dependencies ?? {}).length > 0),
    ).toEqual([]);
    expect(installs.filter((name) => name !== 'prepare')).toEqual([]);
  });
});
