/**
 * A project of a user that has installed the packed tarball. Nothing is fetched: the
 * packages that the tarball needs are packed from our own node_modules.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Ended, ROOT, runProcess } from './run-process.ts';

export interface Consumer {
  readonly folder: string;
  /** Files in the tarball. */
  readonly packed: readonly string[];
  write(name: string, text: string): void;
  /** Runs a program in the folder. */
  run(file: string, ...args: readonly string[]): Promise<Ended>;
  remove(): void;
}

interface Manifest {
  readonly name: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

/** Packs the repository and installs it, with these packages of ours beside it. */
export async function installPacked(beside: readonly string[]): Promise<Consumer> {
  const folder = mkdtempSync(join(tmpdir(), 'fairloom-consumer-'));
  const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);
  const run = (file: string, ...args: readonly string[]): Promise<Ended> =>
    runProcess(file, args, { cwd: folder, env: withoutNpm(), timeoutMs: 120_000 });

  const packing = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder];
  const packed = await runProcess('npm', packing, { cwd: ROOT, env: withoutNpm() });
  const [tarball] = JSON.parse(demand(packed)) as {
    readonly filename: string;
    readonly files: readonly { readonly path: string }[];
  }[];
  if (tarball === undefined) throw new Error('npm pack made no tarball');

  write('package.json', JSON.stringify({ name: 'consumer', private: true, type: 'module' }));
  const own = Object.keys(manifestOf(ROOT).dependencies ?? {});
  const folders = closure([...own, ...beside]);
  const flags = ['--offline', '--install-links', '--ignore-scripts', '--no-audit', '--no-fund'];
  demand(await run('npm', 'install', ...flags, `./${tarball.filename}`, ...folders));
  return {
    folder,
    packed: tarball.files.map(({ path }) => path),
    write,
    run,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Folders of the packages and of everything that they need. */
function closure(names: readonly string[]): readonly string[] {
  const folders = new Map<string, string>();
  const visit = (name: string, from: string): void => {
    const folder = packageFolder(name, from);
    if (folders.has(name)) return;
    folders.set(name, folder);
    for (const next of Object.keys(manifestOf(folder).dependencies ?? {})) visit(next, folder);
  };
  for (const name of names) visit(name, ROOT);
  return [...folders.values()];
}

/** Where a package lies, seen from a folder; its exports need not name its package.json. */
function packageFolder(name: string, from: string): string {
  const places = createRequire(join(from, 'package.json')).resolve.paths(name) ?? [];
  const found = places.map((place) => join(place, name)).find((folder) => isPackage(folder));
  if (found === undefined) throw new Error(`${name} is not installed beside ${dirname(from)}`);
  return found;
}

function isPackage(folder: string): boolean {
  try {
    return manifestOf(folder).name !== '';
  } catch {
    return false;
  }
}

function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
}

/** What npm tells the programs that it runs would make an inner npm act on the wrong project. */
function withoutNpm(): Readonly<Record<string, undefined>> {
  const own = Object.keys(process.env).filter((name) => /^npm_/i.test(name));
  return Object.fromEntries(own.map((name) => [name, undefined]));
}

function demand({ code, stdout, stderr }: Ended): string {
  if (code !== 0) throw new Error(`npm ended with ${code}:\n${stdout}\n${stderr}`);
  return stdout;
}
