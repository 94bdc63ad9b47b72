import { compareUtf8 } from '../../base/utf8-order.ts';
import type {
  ErrorGroupFacts,
  Page,
  PageRequest,
  TaskFilter,
  TaskPageRequest,
} from '../../domain/port/inspection.ts';
import { CRITICAL, LEVELS, type TaskRow } from '../../domain/task/task.ts';
import type { Session } from './connection/session.ts';
import { decodeRow, RECORD_FIELDS } from './decode-record.ts';
import { queueNames } from './queues.ts';
import { allLeases, startedPart } from './started.ts';
import { placesOf } from './users.ts';
import { flat, text } from './wire/decode.ts';
import { levelPart } from './wire/keys.ts';
import { foreignCursor, placeIn } from './wire/listing-place.ts';
import { type Part, type PartRequest, pageOf } from './wire/parts.ts';

/** Queues whose lines one script reads. */
const QUEUES_STEP = 40;

/** Values of a reply before its rows; see lua/list.lua. */
const HEAD = 4;

/** The same for error groups, and values per group; see lua/error-groups.lua. */
const GROUPS_HEAD = 3;
const GROUP_FIELDS = 6;

/** See `Inspect.list`. */
export async function listTasks(
  session: Session,
  filter: TaskFilter,
  page: TaskPageRequest,
): Promise<Page<TaskRow>> {
  if (page.cursor !== undefined) placeIn(page.cursor);
  const { values } = page;
  const of = (part: PartRequest): Request => (values === undefined ? part : { ...part, values });
  if (filter.state === 'started') {
    const leases = await allLeases(session);
    return pageOf(page, (part) => startedPart(session, leases, filter, of(part)));
  }
  if (filter.state !== 'queued') {
    const queues = filter.queue === undefined ? [] : [filter.queue];
    return pageOf(page, (part) => partOf(session, filter, of(part), queues));
  }
  const names = await queuesOfLines(session, filter, page);
  return pageOf(page, (part) => inLines(session, filter, of(part), names));
}

/** See `Inspect.errorGroups`. */
export async function listErrorGroups(
  session: Session,
  page: PageRequest,
): Promise<Page<ErrorGroupFacts>> {
  if (page.cursor !== undefined) placeIn(page.cursor);
  return pageOf(page, async ({ cursor, limit }) => {
    const [kind, score, group] = cursor === undefined ? ['failed', '', ''] : placeIn(cursor);
    const reply = flat(await session.run('errorGroups', [kind, score, group, limit]));
    const place = reply.slice(0, GROUPS_HEAD).map(text);
    const items: ErrorGroupFacts[] = [];
    for (let at = GROUPS_HEAD; at < reply.length; at += GROUP_FIELDS) {
      const [id, failed, attempts, firstAt, lastAt, sample] = reply.slice(at, at + GROUP_FIELDS);
      const counts = { failed: Number(failed), attempts: Number(text(attempts)) };
      const moments = { firstAt: Number(text(firstAt)), lastAt: Number(text(lastAt)) };
      items.push({ id: text(id), ...counts, ...moments, sample: text(sample) });
    }
    return place[0] === '' ? { items } : { items, cursor: JSON.stringify(place) };
  });
}

type Request = TaskPageRequest & PartRequest;

/** Queues in which the user may have a line, in order; and the queue of the cursor. */
async function queuesOfLines(
  session: Session,
  { queue, user = '' }: TaskFilter,
  { cursor }: PageRequest,
): Promise<readonly string[]> {
  if (queue !== undefined) return [queue];
  const names = (await placesOf(session, [user])).map((place) => place.queue);
  if (cursor === undefined) return names;
  const [key] = placeIn(cursor);
  const last = (await queueNames(session)).filter((one) => isLineOf(session, one, user, key));
  return [...new Set([...names, ...last])].sort(compareUtf8);
}

function lineOf({ keys }: Session, queue: string, level: number, user: string): string {
  return keys.line(queue, levelPart(level), user);
}

function isLineOf(session: Session, queue: string, user: string, key: string | undefined): boolean {
  return LEVELS.some((level) => lineOf(session, queue, level, user) === key);
}

/** The lines of a user in some queues, from that of the cursor on. */
async function inLines(
  session: Session,
  filter: TaskFilter,
  request: Request,
  names: readonly string[],
): Promise<Part<TaskRow>> {
  const { user = '' } = filter;
  const [key] = request.cursor === undefined ? [] : placeIn(request.cursor);
  const from =
    key === undefined ? 0 : names.findIndex((queue) => isLineOf(session, queue, user, key));
  if (from < 0) throw foreignCursor(request.cursor);
  const to = from + QUEUES_STEP;
  const part = await partOf(session, filter, request, names.slice(from, to));
  const next = names[to];
  if (part.cursor !== undefined || next === undefined) return part;
  // Before the first line of the next queue.
  return { ...part, cursor: JSON.stringify([lineOf(session, next, CRITICAL, user), '-1', '']) };
}

async function partOf(
  session: Session,
  { state, user = '', name = '', error = '' }: TaskFilter,
  { cursor = '', limit, scan, bytes, values }: Request,
  queues: readonly string[],
): Promise<Part<TaskRow>> {
  const filter = [state, queues.join(','), user, name, error];
  const args = [...filter, cursor, limit, scan, bytes, values === true ? '1' : '0'];
  const reply = flat(await session.run('list', args));
  const [place, more, looked, weight] = reply;
  const items: TaskRow[] = [];
  for (let at = HEAD; at < reply.length; at += RECORD_FIELDS) {
    items.push(decodeRow(reply, at, values));
  }
  const part = { items, looked: Number(looked), bytes: Number(weight) };
  return Number(more) === 1 ? { ...part, cursor: text(place) } : part;
}
