/**
 * The audit: changes that were asked for over HTTP, in the store itself. They are XCom values of a user of
 * our own, under keys that put the newest first, so that no backend needs to know of them.
 */
import { isRecord } from '../base/records.ts';
import { coreOf, type Fairloom } from '../client/client.ts';
import type { Core } from '../core/core.ts';
import { isOwn } from '../domain/errors/errors.ts';
import { allPages } from '../domain/port/all-pages.ts';
import type { Page, PageRequest } from '../domain/port/backend.ts';
import type { XComPlace } from '../domain/task/xcom.ts';
import type { AuditEntry } from './answers.ts';
import { shareMark, tooMany } from './audit-share.ts';

/** No task is of this user, and no caller that sees some users only can be given it by mistake. */
const PLACE = { user: '~fairloom', namespace: 'audit' } as const;

/** How long an entry is kept. */
const KEPT_DAYS = 90;

/** Keys are the time that is left until this moment, so that the newest are first in the order of texts. */
const FAR_MS = 1e14;

/** Every so many changes of one process those that are too many are looked for. */
const LOOK_EVERY = 100;

/** Entries of one look. */
const LOOK_ROWS = 500;

/** So many changes of one moment are told apart by their order. */
const MOMENT = 100_000;

/** Written by this process. */
let written = 0;

/** Characters of what a call names: an id has no more, and a path may have thousands. */
const TARGET_LENGTH = 200;

/** Keeps an entry. `caller` tells those apart that share the room for entries. */
export async function keepAudit(loom: Fairloom, asked: AuditEntry, caller: string): Promise<void> {
  const entry = { ...asked, target: cut(asked.target) };
  const left = String(FAR_MS - entry.at).padStart(15, '0');
  const where = { ...PLACE, ttl: `${KEPT_DAYS}d` } as const;
  written++;
  // Those of one moment stand in the order of this process.
  const turn = String(MOMENT - (written % MOMENT)).padStart(6, '0');
  const mark = shareMark(entry.status < 400 ? 'done' : 'refused', caller);
  await loom.xcom.push(`${left}.${turn}.${entry.requestId}.${mark}`, entry, where);
  if (written % LOOK_EVERY === 0) await dropSurplus(loom);
}

/** One page, the newest first. */
export async function auditPage(loom: Fairloom, page: PageRequest): Promise<Page<AuditEntry>> {
  const { items: facts, cursor } = await loom.xcom.list({ ...PLACE, ...page });
  const core = coreOf(loom);
  const { xcom } = await core.connection.open();
  const values = facts.length === 0 ? [] : await xcom.read(facts.map(placeOf));
  const items = values.flatMap((value, index): readonly AuditEntry[] => {
    const entry: unknown =
      value && readEntry(core, { key: facts[index]?.key ?? '', text: value.text });
    return isEntry(entry) ? [entry] : [];
  });
  return cursor === undefined ? { items } : { items, cursor };
}

function placeOf({ user, namespace, key }: XComPlace): XComPlace {
  return { user, namespace, key };
}

/** One that is encrypted with another key says so, and what its key in the store says. */
function readEntry(
  { xcom }: Core,
  stored: { readonly key: string; readonly text: string },
): unknown {
  try {
    return xcom.valueOf({ name: 'audit', schema: undefined }, stored.text);
  } catch (error) {
    if (!isOwn(error, 'DECRYPTION_FAILED')) throw error;
    const [left = '', , requestId = ''] = stored.key.split('.');
    const unread = { action: '', target: '', status: 0, outcome: error.code };
    return { at: FAR_MS - Number(left), requestId, ...unread };
  }
}

/** What this version or another has written. */
function isEntry(value: unknown): value is AuditEntry {
  return isRecord(value) && typeof value['action'] === 'string' && typeof value['at'] === 'number';
}

function cut(target: string): string {
  return target.length <= TARGET_LENGTH ? target : `${target.slice(0, TARGET_LENGTH)}…`;
}

/** What is too much goes with a change that looks. */
async function dropSurplus(loom: Fairloom): Promise<void> {
  const keys: string[] = [];
  const pages = allPages(LOOK_ROWS, (page) => loom.xcom.list({ ...PLACE, ...page }));
  for await (const { items } of pages) for (const { key } of items) keys.push(key);
  for (const at of tooMany(keys.map((key) => key.split('.')[3]))) {
    const key = keys[at];
    if (key !== undefined) await loom.xcom.delete(key, PLACE);
  }
}
