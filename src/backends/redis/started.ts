import { inChunks } from '../../base/chunks.ts';
import type { TaskFilter, TaskPageRequest } from '../../domain/port/inspection.ts';
import { rowBytes, type TaskRow } from '../../domain/task/task.ts';
import { isNamed } from '../../domain/task/task-name.ts';
import type { Session } from './connection/session.ts';
import { decodeRow, RECORD_FIELDS } from './decode-record.ts';
import { flat, text } from './wire/decode.ts';
import { placeIn } from './wire/listing-place.ts';
import type { Part, PartRequest } from './wire/parts.ts';

/** Workers per script. */
const WORKERS_STEP = 200;

/** Records per script. */
const RECORDS_STEP = 200;

/** Values of a lease in a reply; see lua/leases.lua. */
const LEASE_FIELDS = 3;

/** Place of a started task in the listing: end of its lease, then arrival. */
export interface LeasePlace {
  readonly id: string;
  readonly until: number;
  readonly stamp: number;
}

/**
 * All leases in force, in this order. There is no index of it: they are read in several scripts, so
 * leases that begin or end meanwhile may be included or not.
 */
export async function allLeases(session: Session): Promise<readonly LeasePlace[]> {
  const found = new Map<string, LeasePlace>();
  const workers = flat(await session.command('list', 'ZRANGE', [session.keys.leases, 0, -1]));
  for (const some of inChunks(workers.map(text), WORKERS_STEP)) {
    for (let [at, cursor] = [0, '0']; at < some.length; ) {
      const [done, next, ...leases] = flat(
        await session.run('leases', [cursor, ...some.slice(at)]),
      );
      for (let row = 0; row < leases.length; row += LEASE_FIELDS) {
        const [id, till, came] = leases.slice(row, row + LEASE_FIELDS);
        found.set(text(id), { id: text(id), until: Number(till), stamp: Number(came) });
      }
      at += Number(done);
      cursor = text(next);
    }
  }
  return [...found.values()].sort(compare);
}

type Order = Pick<LeasePlace, 'until' | 'stamp'>;

function compare(a: Order, b: Order): number {
  return a.until - b.until || a.stamp - b.stamp;
}

/** Records of started tasks after the place of a row. */
export async function startedPart(
  session: Session,
  leases: readonly LeasePlace[],
  filter: TaskFilter,
  { cursor, limit, scan, bytes, values = false }: TaskPageRequest & PartRequest,
): Promise<Part<TaskRow>> {
  const place = cursor === undefined ? undefined : placeOf(cursor);
  const from = place === undefined ? 0 : leases.findIndex((lease) => compare(lease, place) > 0);
  const isFiltered = Object.keys(filter).length > 1;
  const most = Math.min(RECORDS_STEP, isFiltered ? scan : limit);
  const asked = from < 0 ? [] : leases.slice(from, from + most);
  if (asked.length === 0) return { items: [] };
  const request = [values ? '1' : '0', bytes];
  const reply = flat(await session.run('get', [...request, ...asked.map(({ id }) => id)]));
  const items: TaskRow[] = [];
  let [looked, weight] = [0, 0];
  for (const at of asked.keys()) {
    if (items.length >= limit || weight >= bytes || at * RECORD_FIELDS >= reply.length) break;
    looked++;
    if (text(reply[at * RECORD_FIELDS]) === '') continue;
    const row = decodeRow(reply, at * RECORD_FIELDS, values);
    if (!isMeant(row, filter)) continue;
    items.push(row);
    weight += rowBytes(row);
  }
  const last = asked[looked - 1];
  const part = { items, looked, bytes: weight };
  const isLast = last === undefined || from + looked === leases.length;
  if (isLast) return part;
  const { until, stamp } = last;
  return { ...part, cursor: JSON.stringify([session.keys.leases, String(until), String(stamp)]) };
}

function placeOf(cursor: string): Order {
  const [, until, stamp] = placeIn(cursor);
  return { until: Number(until), stamp: Number(stamp) };
}

function isMeant(row: TaskRow, { state, queue, user, name }: TaskFilter): boolean {
  return (
    row.state === state &&
    (queue === undefined || row.queue === queue) &&
    (user === undefined || row.user === user) &&
    (name === undefined || isNamed(row.name, name))
  );
}
