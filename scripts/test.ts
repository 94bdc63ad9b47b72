/**
 * The whole check, cheapest first: static checks (the last of them, the report of the public API,
 * looks at the build), each layer of tests, the package. The last line is always `N passed, N failed`; a static or package check counts as one. Exits 1 when
 * anything failed, or when no test ran.
 *
 *   npm test                                  everything
 *   npm test -- --layer domain                one layer; may be given more than once
 *   npm test -- --layer static                the static checks alone (`package`: those of the package)
 */
import { existsSync, readdirSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { LAYERS, type Layer } from '../test/support/layers.ts';
import { ROOT, run } from './run.ts';
import { runLayer } from './run-layer.ts';

interface Check {
  readonly name: string;
  readonly command: readonly string[];
}

/** What a step came to; `tests` are those that ran in vitest, so that none at all is noticed. */
interface Tally {
  passed: number;
  failed: number;
  tests: number;
}

/** Nothing of src/ compiles without them. */
const LUA: Check = { name: 'lua', command: ['tsx', 'scripts/lua/bundle.ts'] };
const STATIC: readonly Check[] = [
  { name: 'biome', command: ['biome', 'ci', '--colors=off', '.'] },
  { name: 'tsc', command: ['tsc', '-p', 'tsconfig.json'] },
  { name: 'depcruise', command: ['depcruise', 'src'] },
  { name: 'knip', command: ['knip'] },
  { name: 'hosts', command: ['tsx', 'scripts/bundle-hosts.ts', '--check'] },
  { name: 'site', command: ['npm', 'run', '--silent', 'docs:build'] },
];
const BUILD: Check = { name: 'build', command: ['npm', 'run', '--silent', 'build'] };
/** The public API is the one that `etc/` shows. */
const API: Check = { name: 'api', command: ['tsx', 'scripts/api.ts'] };
const PACKAGE: readonly Check[] = [
  { name: 'publint', command: ['publint', '--strict'] },
  { name: 'attw', command: ['attw', '--pack', '.', '--profile', 'esm-only'] },
];

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
  if (wants('static')) {
    await check(LUA);
    await checkAll(STATIC);
  }
  const layers = LAYERS.filter(({ name }) => wants(name));
  const built = wants('static') || wants('package') || layers.some(({ built }) => built);
  if (built) await checkAll([BUILD]);
  if (wants('static')) await checkAll([API]);
  for (const layer of layers) await testLayer(layer);
  if (wants('package')) await checkAll(PACKAGE);
  finish(started);
}

function wants(name: string): boolean {
  return only.size === 0 || only.has(name);
}

/** Two at a time: most of them keep one core busy. */
async function checkAll(checks: readonly Check[]): Promise<void> {
  const left = [...checks];
  const checkOn = async (): Promise<void> => {
    for (let one = left.shift(); one !== undefined; one = left.shift()) await check(one);
  };
  await Promise.all([checkOn(), checkOn()]);
}

async function check({ name, command }: Check): Promise<void> {
  const { code, output, ms } = await run(command);
  const ok = code === 0;
  if (ok) tally.passed += 1;
  else tally.failed += 1;
  report(ok, name, ms, ok ? '' : `failed: ${command.join(' ')}`);
  if (!ok) console.log(output.trimEnd());
}

async function testLayer(layer: Layer): Promise<void> {
  if (!hasTests(`${ROOT}test/${layer.name}`)) {
    console.log(`-      ${layer.name}: no tests yet`);
    return;
  }
  const { passed, failed, skipped, again, ms, output } = await runLayer(layer.name);
  tally.passed += passed;
  tally.failed += failed;
  tally.tests += passed + failed;
  const skips = skipped > 0 ? `, ${skipped} skipped` : '';
  report(failed === 0, layer.name, ms, `${passed} passed, ${failed} failed${skips}`);
  for (const test of again) console.log(`       at the second try: ${test}`);
  if (failed > 0) console.log(output.trimEnd());
}

function hasTests(folder: string): boolean {
  if (!existsSync(folder)) return false;
  return readdirSync(folder, { recursive: true }).some((file) => String(file).endsWith('.test.ts'));
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
