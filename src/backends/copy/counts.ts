import type { Store } from '../memory/store/store.ts';

/** How many things a copy has, by what they are. */
export interface CopyCounts {
  /** In all states. */
  readonly tasks: number;
  /** Of these, such as have not ended. */
  readonly open: number;
  /** Of the open ones, such as are leased. */
  readonly leased: number;
  /** Of tasks, logs included. */
  readonly streams: number;
  /** Questions, closed ones included. */
  readonly asks: number;
  /** Idempotency keys. */
  readonly keys: number;
  readonly queues: number;
  /** Settings of users, for one queue or for all. */
  readonly settings: number;
  readonly schedules: number;
  /** Snapshots of graphs. */
  readonly graphs: number;
  /** Values of XCom, entries of the audit included. */
  readonly values: number;
  /** Events that are kept. */
  readonly events: number;
  readonly errorGroups: number;
  /** Minutes and hours of the series. */
  readonly series: number;
}

/** Counts what a store knows. */
export function countsOf(store: Store): CopyCounts {
  let [streams, asks] = [0, 0];
  for (const { optional } of store.records.values()) {
    streams += optional.streams?.size ?? 0;
    asks += optional.run?.asks?.size ?? 0;
  }
  const queues = [...store.queues.values()];
  const sum = (counts: readonly number[]): number => counts.reduce((all, one) => all + one, 0);
  return {
    tasks: store.records.size,
    open: sum(queues.flatMap(({ counts }) => OPEN.map((state) => counts[state]))),
    leased: sum(queues.map(({ counts }) => counts.started)),
    streams,
    asks,
    keys: store.keys.size,
    queues: queues.length,
    settings: store.settingsForAll.size + sum(queues.map(({ ownSettings }) => ownSettings.size)),
    schedules: store.schedules.size,
    graphs: [...store.snapshots.values()].filter(({ body }) => body !== undefined).length,
    values: [...store.xcom.all()].length,
    events: sum([...store.events.all()].map(([, { events }]) => events.size)),
    errorGroups: store.failures.all().length,
    series: [...store.series.all()].length,
  };
}

const OPEN = ['scheduled', 'deferred', 'queued', 'started'] as const;
