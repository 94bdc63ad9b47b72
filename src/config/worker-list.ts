/** The workers of a configuration: `worker` for one, or `workers`, a list. */
import { LIMITS } from '../domain/limits.ts';
import type { Given, GivenEntry } from './given.ts';
import { WORKER } from './options.ts';
import { gotText } from './problems.ts';
import { type Findings, type Layers, resolveSection } from './resolve.ts';

/** Values of one worker in all sources. */
interface Draft {
  readonly path: string;
  readonly layers: Layers;
}

/** A checked worker with its path. */
export interface ResolvedWorker {
  readonly path: string;
  readonly values: Readonly<Record<string, unknown>>;
}

/**
 * A list replaces all workers of earlier sources; `worker` changes fields of the existing ones, or
 * of a single one without a list.
 */
export function resolveWorkers(layers: Layers, findings: Findings): readonly ResolvedWorker[] {
  let drafts: readonly Draft[] = [{ path: 'worker', layers: [] }];
  for (const layer of layers) {
    if (layer.kind !== 'map') continue;
    const one = layer.entries.get('worker');
    const many = layer.entries.get('workers');
    if (one !== undefined && many !== undefined) {
      const origin = many.key;
      const expected = 'either worker or workers';
      findings.problems.add({ path: 'workers', origin, expected, got: 'both' });
      continue;
    }
    if (many !== undefined) drafts = draftsOf(many.given, findings);
    if (one !== undefined) drafts = changed(drafts, one, findings);
  }
  const workers = drafts.map(({ path, layers: own }): ResolvedWorker => {
    const values = resolveSection(WORKER, own, path, findings);
    return { path, values: typeof values === 'object' ? values : {} };
  });
  refuseTwins(workers, findings);
  return workers;
}

function draftsOf(given: Given, { problems, spoiled }: Findings): readonly Draft[] {
  const most = LIMITS.configWorkers;
  if (given.kind === 'list' && given.items.length > 0 && given.items.length <= most) {
    return given.items.map((item, at) => ({ path: `workers[${at}]`, layers: [item] }));
  }
  const count = given.kind === 'list' ? `a list of ${given.items.length}` : gotText(given);
  const expected = `a list of 1 to ${most} workers`;
  spoiled.add('workers');
  problems.add({ path: 'workers', origin: given.origin, expected, got: count });
  return [];
}

function changed(
  drafts: readonly Draft[],
  { given }: GivenEntry,
  { problems }: Findings,
): readonly Draft[] {
  const id = given.kind === 'map' ? given.entries.get('id')?.given : undefined;
  if (id !== undefined && drafts.length > 1) {
    const expected = `no id, since ${drafts.length} workers would share it`;
    problems.add({ path: 'worker.id', origin: id.origin, expected, got: gotText(id) });
    return drafts;
  }
  return drafts.map(({ path, layers }) => ({ path, layers: [...layers, given] }));
}

function refuseTwins(workers: readonly ResolvedWorker[], { problems, origins }: Findings): void {
  const seen = new Map<unknown, string>();
  for (const { path, values } of workers) {
    const { id } = values;
    if (id === undefined) continue;
    const first = seen.get(id);
    if (first === undefined) {
      seen.set(id, path);
      continue;
    }
    const origin = origins.get(`${path}.id`) ?? { from: 'default' };
    const hint = `${first} has it too`;
    const got = JSON.stringify(id);
    problems.add({ path: `${path}.id`, origin, expected: 'a unique id', got, hint });
  }
}
