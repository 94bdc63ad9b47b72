/** Modules of tasks that the command line is given, and what they export. */

import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isPlainObject, isRecord } from '../../base/records.ts';
import { Fairloom } from '../../client/client.ts';
import type { HandlerMap } from '../../handlers/handler-source.ts';
import { type GroupPolicy, isGroupPolicy } from '../../workflow/group-policy.ts';
import { StepDefinition } from '../../workflow/pipeline-definition.ts';
import type { AnyStep } from '../../workflow/step.ts';
import type { TaskHandler } from '../../workflow/tasks/handler-task.ts';

import { CliError, EXIT } from './exit-code.ts';

const TYPESCRIPT = /\.[cm]?tsx?$/;

/** What the modules export that concerns Fairloom. */
export interface Exports {
  /** Used as it is, when a module exports one. */
  readonly loom: Fairloom | undefined;
  readonly steps: readonly (AnyStep | GroupPolicy)[];
  /** Steps by their own names, and by those of the exports that hold them. */
  readonly named: ReadonlyMap<string, AnyStep>;
  /** What the exports of that name hold, for the tasks of `handlerTask`. */
  readonly handlers: HandlerMap;
}

/**
 * Imports modules by path, relative to the current folder, or by the name of a package. Exported
 * steps and an exported `Fairloom` are found by any name, in arrays and plain objects too.
 *
 * @throws {@link CliError} when one cannot be loaded, or two export a `Fairloom` or handlers of one
 * name.
 */
export async function loadModules(names: readonly string[]): Promise<Exports> {
  const looms = new Set<Fairloom>();
  const steps = new Set<AnyStep | GroupPolicy>();
  const named = new Map<string, AnyStep>();
  const handlers = new Map<string, TaskHandler>();
  for (const name of names) {
    const exported = await load(name);
    const values = flat(exported);
    const own = values.filter((value) => value instanceof Fairloom);
    const defined = values.filter(isDefined);
    if (own.length + defined.length === 0) {
      for (const value of values) refuseForeign(name, value);
      throw new CliError(EXIT.usage, `${name} exports no step and no Fairloom`);
    }
    for (const loom of own) looms.add(loom);
    for (const step of defined) steps.add(step);
    for (const [key, value] of [...Object.entries(exported), ...values.map(byName)]) {
      if (isStep(value)) named.set(key, value);
    }
    for (const [key, handler] of handlersOf(exported)) {
      if ((handlers.get(key) ?? handler) !== handler) {
        throw new CliError(EXIT.usage, `the modules export two handlers named ${key}`);
      }
      handlers.set(key, handler);
    }
  }
  if (looms.size > 1) {
    throw new CliError(EXIT.usage, 'the modules export more than one Fairloom');
  }
  const registered = Object.fromEntries(handlers);
  return { loom: [...looms][0], steps: [...steps], named, handlers: registered };
}

/** Of an export named `handlers`; the client refuses those that are none. */
function handlersOf(exported: object): readonly [string, TaskHandler][] {
  const handlers: unknown = Reflect.get(exported, 'handlers');
  return typeof handlers === 'object' && handlers !== null ? Object.entries(handlers) : [];
}

/** What a step is to callers: its types are promises, nothing at run time. */
function isStep(value: unknown): value is AnyStep {
  return value instanceof StepDefinition;
}

function isDefined(value: unknown): value is AnyStep | GroupPolicy {
  return isStep(value) || isGroupPolicy(value);
}

function byName(value: unknown): readonly [string, unknown] {
  return [value instanceof StepDefinition ? value.name : '', value];
}

async function load(name: string): Promise<object> {
  const url = locate(name);
  // Before the first try: Node remembers that it could not import a URL.
  if (TYPESCRIPT.test(url) && !runsTypeScript()) await registerTsx();
  try {
    return await importUrl(url);
  } catch (error) {
    throw asCliError(name, url, error);
  }
}

/** Whether Node strips types itself (22.18 and newer do). */
function runsTypeScript(): boolean {
  return Boolean(Reflect.get(process.features, 'typescript'));
}

async function importUrl(url: string): Promise<object> {
  return import(url);
}

/** The URL of a path, or of a package seen from the current folder. */
function locate(name: string): string {
  if (/^(file|data):/.test(name)) return name;
  const isPath = /^\.{0,2}[\\/]/.test(name) || /\.[cm]?[jt]sx?$/.test(name);
  if (isPath) return pathToFileURL(resolve(name)).href;
  try {
    return pathToFileURL(fromHere().resolve(name)).href;
  } catch {
    return pathToFileURL(resolve(name)).href;
  }
}

function fromHere(): NodeJS.Require {
  return createRequire(join(process.cwd(), 'fairloom.js'));
}

/** Lets Node import TypeScript by the `tsx` of the current folder, if there is one. */
async function registerTsx(): Promise<void> {
  let tsx: string;
  try {
    tsx = fromHere().resolve('tsx');
  } catch {
    return;
  }
  // Its main module registers itself when it is loaded.
  await importUrl(pathToFileURL(tsx).href);
}

/** A module's values, also those in its arrays, plain objects and default export. */
function flat(exported: object): readonly unknown[] {
  return Object.values(exported).flatMap((value) => {
    if (Array.isArray(value)) return value;
    if (!isRecord(value) || isGroupPolicy(value)) return [value];
    return isPlainObject(value) ? Object.values(value) : [value];
  });
}

/** Two copies of the package do not know each other's classes; say so instead of finding nothing. */
function refuseForeign(name: string, value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  const kind = value.constructor?.name;
  if (!['Fairloom', 'TaskDefinition', 'PipelineDefinition'].includes(kind ?? '')) return;
  throw new CliError(
    EXIT.usage,
    `${name} uses another copy of fairloom than this command`,
    'run the command of the same project: npx fairloom …',
  );
}

function asCliError(name: string, url: string, error: unknown): CliError {
  const code = codeOf(error);
  if (code === 'ERR_MODULE_NOT_FOUND' && failedItself(url, error)) {
    return new CliError(EXIT.notFound, `there is no module ${name}`);
  }
  if (code === 'ERR_UNKNOWN_FILE_EXTENSION') {
    return new CliError(EXIT.usage, `Node cannot import ${name}`, 'install tsx beside it');
  }
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return new CliError(EXIT.failed, `${name} could not be loaded: ${text}`);
}

/** Whether the module itself is missing, not something that it imports. */
function failedItself(url: string, error: unknown): boolean {
  const missing = isRecord(error) ? error['url'] : undefined;
  return missing === url || (missing === undefined && String(error).includes(`'${url}'`));
}

function codeOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null ? Reflect.get(error, 'code') : undefined;
}
