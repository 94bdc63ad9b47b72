/** `loom.versions`: open work of each version of each task, which tells a deploy when old workers can stop. */
import type { SharedBackend } from '../../backends/shared-backend.ts';
import { isGraphStoreError, isOwn } from '../../domain/errors/errors.ts';
import { checkOptions, keysOf, type OptionKeys } from '../../domain/errors/options.ts';
import { LIMITS } from '../../domain/limits.ts';
import { allPages } from '../../domain/port/all-pages.ts';
import type { Backend, Page, PageRequest } from '../../domain/port/backend.ts';
import type { TaskRow } from '../../domain/task/task.ts';
import {
  codeNeeded,
  compareVersions,
  namePartsIn,
  versionedName,
} from '../../domain/task/task-name.ts';
import { codeKept } from '../../graph/node-code.ts';
import type { GraphCache } from '../../runs/graph-cache.ts';
import { isDrive, runPlaceOf } from '../../runs/record.ts';
import { SpecCache } from '../../schedules/spec.ts';
import { integerOption } from '../../workflow/task-options.ts';

/** Bound of the report. */
export interface VersionsOptions {
  /** Most tasks to read. Default 100,000. */
  readonly limit?: number | undefined;
}

/** Open work of one version of a task, and its workers. */
export interface VersionStatus {
  /** Name of the task. */
  readonly name: string;
  /** Version of its code; absent: tasks without one, which any worker with the name runs. */
  readonly version?: string;
  /** Number of tasks that have not ended, by state. */
  readonly tasks: Readonly<Record<OpenState, number>>;
  /** Number of driven runs with this version that have not ended, whether or not they have reached the task. */
  readonly runs: number;
  /** Number of schedules whose tasks or runs have this version. */
  readonly schedules: number;
  /** Sum of these. At 0 nothing that was read needs the version. */
  readonly needed: number;
  /** Ids of the live workers that have it. */
  readonly workers: readonly string[];
}

/** Report about all versions. */
export interface VersionReport {
  /** By name, the newest version first, those without a version last. */
  readonly versions: readonly VersionStatus[];
  /** Number of tasks that were read. */
  readonly looked: number;
  /** False: some tasks were not read, so a 0 is not reliable. */
  readonly complete: boolean;
}

/** States of tasks that have not ended. */
export type OpenState = 'scheduled' | 'deferred' | 'queued' | 'started';

const KEYS: OptionKeys<VersionsOptions> = keysOf<VersionsOptions>()({ limit: true });

/** States with listings that need no user. */
const LISTED = ['scheduled', 'deferred', 'started'] as const;

/** Dependencies on the client. */
interface VersionsParts {
  readonly connection: SharedBackend;
  readonly graphs: GraphCache;
}

interface Row {
  readonly tasks: Record<OpenState, number>;
  runs: number;
  schedules: number;
  readonly workers: string[];
}

/** @throws {@link InvalidOptionError}; see `Fairloom.versions`. */
export async function versionReport(
  parts: VersionsParts,
  options: VersionsOptions,
): Promise<VersionReport> {
  checkOptions('versions', options, KEYS);
  const { limit = LIMITS.versionsScan } = options;
  const bounds = { least: 1, most: Number.MAX_SAFE_INTEGER };
  return new Count(parts, integerOption('limit', limit, bounds)).report();
}

class Count {
  readonly #parts: VersionsParts;
  readonly #limit: number;
  /** By name and version. */
  readonly #rows = new Map<string, Row>();
  #looked = 0;

  constructor(parts: VersionsParts, limit: number) {
    this.#parts = parts;
    this.#limit = limit;
  }

  async report(): Promise<VersionReport> {
    const backend = await this.#parts.connection.open();
    for (const { id, names } of await backend.workers.list()) {
      for (const name of names) if (!name.startsWith('~')) this.#row(name).workers.push(id);
    }
    await this.#addSchedules(backend);
    const complete = await this.#addTasks(backend);
    const versions = [...this.#rows].map(([stored, row]) => statusOf(stored, row)).sort(inOrder);
    return { versions, looked: this.#looked, complete };
  }

  async #addSchedules({ schedules }: Backend): Promise<void> {
    const specs = new SpecCache();
    for await (const { items } of pagesOf((page) => schedules.list(page))) {
      for (const { id, spec } of items) {
        const { name, options, graph } = specs.of(id, spec).spec.task;
        const codes = graph === undefined ? [name] : await this.#codeOf({ name, options });
        for (const code of codes) this.#row(code).schedules++;
      }
    }
  }

  /** @returns whether all were read. */
  async #addTasks(backend: Backend): Promise<boolean> {
    const { inspect, queues, users } = backend;
    for (const state of LISTED) {
      if (!(await this.#addAll(state, (page) => inspect.list({ state }, page)))) return false;
    }
    for (const { queue, counts } of await queues.list()) {
      if (counts.queued === 0) continue;
      for await (const { items } of pagesOf((page) => users.list(queue, page))) {
        for (const { user, queued } of items) {
          if (queued === 0) continue;
          const filter = { state: 'queued', queue, user } as const;
          if (!(await this.#addAll('queued', (page) => inspect.list(filter, page)))) return false;
        }
      }
    }
    return true;
  }

  async #addAll(
    state: OpenState,
    read: (page: PageRequest) => Promise<Page<TaskRow>>,
  ): Promise<boolean> {
    for await (const { items } of pagesOf(read)) {
      for (const row of items) {
        if (this.#looked === this.#limit) return false;
        this.#looked++;
        await this.#add(state, row);
      }
    }
    return true;
  }

  async #add(state: OpenState, row: TaskRow): Promise<void> {
    if (!row.name.startsWith('~')) {
      this.#row(row.name).tasks[state]++;
      return;
    }
    // The version of a part of a driven run is in the graph of the run.
    if (!isDrive(row.name) || runPlaceOf(row.options)?.node !== '') return;
    for (const code of await this.#codeOf(row)) this.#row(code).runs++;
  }

  /** The version of a run: from its graph, or from its name if the graph cannot be read here. */
  async #codeOf({ name, options }: Pick<TaskRow, 'name' | 'options'>): Promise<Iterable<string>> {
    const place = runPlaceOf(options);
    const needed = codeNeeded(name);
    if (place === undefined || needed.version === undefined) return [];
    try {
      const { graph } = await this.#parts.graphs.get(place.graph);
      return codeKept(graph, place.said);
    } catch (error) {
      if (!isGraphStoreError(error) && !isOwn(error, 'DECRYPTION_FAILED')) throw error;
      return [versionedName(needed.name, needed.version)];
    }
  }

  #row(stored: string): Row {
    const known = this.#rows.get(stored);
    if (known !== undefined) return known;
    const tasks = { scheduled: 0, deferred: 0, queued: 0, started: 0 };
    const row: Row = { tasks, runs: 0, schedules: 0, workers: [] };
    this.#rows.set(stored, row);
    return row;
  }
}

function pagesOf<T>(read: (page: PageRequest) => Promise<Page<T>>): AsyncGenerator<Page<T>> {
  return allPages(LIMITS.pageMax, read);
}

function statusOf(stored: string, { tasks, runs, schedules, workers }: Row): VersionStatus {
  const { scheduled, deferred, queued, started } = tasks;
  const needed = scheduled + deferred + queued + started + runs + schedules;
  return { ...namePartsIn(stored), tasks, runs, schedules, needed, workers: workers.sort() };
}

function inOrder(a: VersionStatus, b: VersionStatus): number {
  if (a.name !== b.name) return a.name < b.name ? -1 : 1;
  if (a.version === undefined || b.version === undefined) {
    return Number(a.version === undefined) - Number(b.version === undefined);
  }
  return compareVersions(b.version, a.version);
}
