/**
 * The whole check: missing programs of the tests are installed; then the checks of files
 * (static checks, types, the build and its package), two at a time, then all other layers of tests in parallel. So the time of a layer is the sum over its files.
 * The last line is always `N passed, N failed`; a static or package check counts as one. Exits 1 when anything
 * failed, or when no test ran.
 *
 *   npm test                                  everything
 *   npm test -- --layer domain                one layer; may be given more than once
 *   npm test -- --layer static                the static checks alone (`package`: those of the package)
 */
import { parseArgs } from 'node:util';
import { LAYERS, programsOf } from '../test/support/layers.ts';
import { newestCompiler } from '../test/support/processes/compilers.ts';
import { run } from './run.ts';
import { runLayers } from './run-layers.ts';

interface Check {
  readonly name: string;
  readonly command: readonly string[];
}

/** The total; `tests` are those that ran in vitest, so that a run without tests is noticed. */
interface Tally {
  passed: number;
  failed: number;
  tests: number;
}

/** src/ does not compile without its results. */
const GENERATE: Check = { name: 'generate', command: ['tsx', 'scripts/generate.ts'] };
/** The newest compiler checks all files in a third of the time; ours makes the build, and is a check of "types". */
const TSC: Check = { name: 'tsc', command: ['node', newestCompiler(), '-p', 'tsconfig.json'] };
/** The page runs in browsers, so it has its own compiler settings. */
const PAGE_TSC: Check = {
  name: 'tsc page',
  command: ['node', newestCompiler(), '-p', 'dashboard/tsconfig.json'],
};
const SITE: Check = { name: 'site', command: ['npm', 'run', '--silent', 'docs:build'] };
const BIOME: Check = { name: 'biome', command: ['biome', 'ci', '--colors=off', '.'] };
const DEPCRUISE: Check = { name: 'depcruise', command: ['depcruise', 'src'] };
const KNIP: Check = { name: 'knip', command: ['knip'] };
const BUILD: Check = { name: 'build', command: ['npm', 'run', '--silent', 'build'] };
/** Compares the public API with `etc/`. */
const API: Check = { name: 'api', command: ['tsx', 'scripts/api.ts'] };
const PACKAGE: readonly Check[] = [
  { name: 'publint', command: ['publint', '--strict'] },
  { name: 'attw', command: ['attw', '--pack', '.', '--profile', 'esm-only'] },
];

/** Compiled and not run, so it is a check rather than a layer: it keeps one core busy. */
const COMPILED = 'types';

const { values } = parseArgs({ options: { layer: { type: 'string', multiple: true } } });
const only = new Set(values.layer ?? []);
const tally: Tally = { passed: 0, failed: 0, tests: 0 };

await main();

async function main(): Promise<void> {
  const started = performance.now();
  const names = ['static', 'package', ...LAYERS.map(({ name }) => name)];
  for (const name of only) {
    if (!names.includes(name)) console.error(`no layer "${name}"; there are ${names.join(', ')}`);
  }
  if (wants('static')) await check(GENERATE);
  const layers = LAYERS.filter(({ name }) => wants(name));
  const built = layers.some(({ built }) => built);
  const programs = programsOf(layers);
  if (programs.length > 0) {
    await check({ name: 'programs', command: ['tsx', 'scripts/programs.ts', ...programs] });
  }
  await twoAtATime([
    ...(wants('static') ? [() => check(SITE)] : []),
    () => buildAndLook(built),
    ...(wants(COMPILED) ? [() => testLayers([COMPILED])] : []),
    ...(wants('static')
      ? [TSC, BIOME, PAGE_TSC, KNIP, DEPCRUISE].map((one) => () => check(one))
      : []),
  ]);
  const run = layers.map(({ name }) => name).filter((name) => name !== COMPILED);
  if (run.length > 0) await testLayers(run);
  finish(started);
}

function wants(name: string): boolean {
  return only.size === 0 || only.has(name);
}

/** The longest first: most of them keep one core busy. */
async function twoAtATime(steps: readonly (() => Promise<void>)[]): Promise<void> {
  const left = [...steps];
  const goOn = async (): Promise<void> => {
    for (let one = left.shift(); one !== undefined; one = left.shift()) await one();
  };
  await Promise.all([goOn(), goOn()]);
}

/** The build, and its checks. */
async function buildAndLook(forTests: boolean): Promise<void> {
  if (forTests || wants('static') || wants('package')) await check(BUILD);
  if (wants('static')) await check(API);
  if (!wants('package')) return;
  for (const one of PACKAGE) await check(one);
}

async function check({ name, command }: Check): Promise<void> {
  // Installations are reported as they begin: they may take minutes.
  const { code, output, ms } = await run(command, (line) => {
    if (line.startsWith('installing ')) console.log(line);
  });
  const ok = code === 0;
  if (ok) tally.passed += 1;
  else tally.failed += 1;
  report(ok, name, ms, ok ? '' : `failed: ${command.join(' ')}`);
  if (!ok) console.log(output.trimEnd());
}

async function testLayers(names: readonly string[]): Promise<void> {
  const before = tally.failed;
  const { output, failed } = await runLayers(names, (layer) => {
    tally.passed += layer.passed;
    tally.failed += layer.failed;
    tally.tests += layer.passed + layer.failed;
    const skips = layer.skipped > 0 ? `, ${layer.skipped} skipped` : '';
    const counts = `${layer.passed} passed, ${layer.failed} failed${skips}`;
    report(layer.failed === 0, layer.name, layer.ms, counts);
    for (const failure of layer.failures) console.log(`       ${failure}`);
  });
  tally.failed += failed;
  if (tally.failed > before) console.log(output);
}

function report(ok: boolean, name: string, ms: number, text: string): void {
  const seconds = `${(ms / 1000).toFixed(1)} s`.padStart(8);
  console.log(`${ok ? 'ok    ' : 'FAILED'} ${name.padEnd(10)} ${seconds}  ${text}`.trimEnd());
}

function finish(started: number): void {
  const checksOnly = only.size > 0 && [...only].every((name) => /^(static|package)$/.test(name));
  const nothing = tally.tests === 0 && !checksOnly;
  if (nothing) console.log('no tests ran');
  if (tally.failed > 0 || nothing) process.exitCode = 1;
  console.log(`${((performance.now() - started) / 1000).toFixed(1)} s in all`);
  console.log(`${tally.passed} passed, ${tally.failed} failed`);
}
