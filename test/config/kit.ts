/** Configurations in tests: written to files, loaded, and put to work. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  applySettings,
  ConfigError,
  type ConfigInput,
  type ConfigProblem,
  fairloomOptions,
  type LoadedConfig,
  loadConfig,
} from 'fairloom/config';
import { type TestLoom, testLoom } from 'fairloom/testing';
import { onTestFinished } from 'vitest';
import type { Logger } from '../../src/base/logger.ts';
import type { TaskSource } from '../../src/handlers/registry.ts';

const folder = mkdtempSync(join(tmpdir(), 'fairloom-config-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));

/** What stands around a file. */
export interface Around {
  readonly env?: Readonly<Record<string, string>>;
  /** Not typed: tests say what the types forbid. */
  readonly overrides?: unknown;
}

/** Writes a file of these bytes and gives its path. */
export function fileOf(content: string | Uint8Array, name = 'fairloom.yaml'): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

/** Loads a text of YAML; the environment is empty unless the test says otherwise. */
export function load(
  yaml: string | Uint8Array,
  { env = {}, overrides = {} }: Around = {},
): Promise<LoadedConfig> {
  return loadConfig({ file: fileOf(yaml), env, overrides: overrides as ConfigInput });
}

/** The same without a file. */
export function loadWithoutFile({ env = {}, overrides = {} }: Around): Promise<LoadedConfig> {
  return loadConfig({ file: false, env, overrides: overrides as ConfigInput });
}

/** Everything that is wrong with a configuration that must not load. */
export async function problemsOf(loading: Promise<unknown>): Promise<readonly ConfigProblem[]> {
  const error = await loading.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ConfigError)) throw error ?? new Error('the configuration was loaded');
  return error.problems;
}

/** What is wrong, each as `line:column path: expected …, got …`. */
export async function complaintsOf(loading: Promise<unknown>): Promise<readonly string[]> {
  const problems = await problemsOf(loading);
  return problems.map(({ source, path, expected, got, hint }) => {
    const place = source.replace(`${folder}/fairloom.yaml:`, '');
    return `${place} ${path}: expected ${expected}, got ${got}${hint === undefined ? '' : `; ${hint}`}`;
  });
}

/** A Fairloom of a configuration, embedded and on a clock that stands still. */
export async function loomOf(
  yaml: string,
  tasks: TaskSource,
  more: { readonly log?: Logger } = {},
): Promise<TestLoom> {
  const { config } = await load(yaml);
  const { backend, ...options } = await fairloomOptions(config);
  await backend.close();
  const loom = testLoom(tasks, { ...options, ...more, worker: config.workers[0] });
  onTestFinished(() => loom.close());
  await applySettings(loom, config);
  return loom;
}
