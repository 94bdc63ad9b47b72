import { InvalidOptionError } from '../../../domain/errors/errors.ts';
import type { QueuePatch, Retention, UserPatch } from '../../../domain/fairness/settings.ts';
import { LIMITS } from '../../../domain/limits.ts';
import type { EditedTask } from '../../../domain/port/change-reply.ts';
import type { LeaseRequest, Settlement, Suspension } from '../../../domain/port/leasing.ts';
import { askPlace } from '../../../domain/task/ask.ts';
import type { Cause } from '../../../domain/task/cause.ts';
import type { ChannelWrite } from '../../../domain/task/channel.ts';
import type { EdgePolicies, KeySpec, NewTask } from '../../../domain/task/task.ts';
import type { WaitTarget } from '../../../domain/task/wait.ts';
import type { XComWrite } from '../../../domain/task/xcom.ts';
import { FLAGS } from '../layout/codes.ts';
import { PACKED_NAMES } from '../layout/fields.ts';
import { USUAL_LEVEL } from '../layout/keys.ts';
import { askSpecText, eventPair } from './ask.ts';
import type { ScriptArgument } from './script.ts';

/** Largest payload inside of the record's text; longer ones are stored separately. */
export const INLINE = 1_024;

/** Separates the constant facts of a record. JSON text and names never contain it. */
const NUL = '\0';

const { kind: KIND } = FLAGS;

/** Appends tasks in the format of lua/lib/steps/store-many.lua. */
export function pushTasks(args: ScriptArgument[], tasks: readonly NewTask[]): void {
  const [only] = tasks;
  if (only !== undefined && tasks.length === 1 && isOneBlob(only)) pushTask(args, only);
  else pushManyTasks(args, tasks);
}

/** Inlined for the most frequent case: lists of its parts would take longer than the task. */
function pushTask(args: ScriptArgument[], task: NewTask): void {
  const counts = task.level === USUAL_LEVEL ? '1 0 1' : '1 1 1';
  args.push(counts, task.user, task.queue, task.id, blobOf(task, 0));
}

/** Whether the blob is all that is sent of it. */
function isOneBlob(task: NewTask): boolean {
  return task.payload.length <= INLINE && isPlainTask(task);
}

function pushManyTasks(args: ScriptArgument[], tasks: readonly NewTask[]): void {
  const owners: string[] = [];
  const sizes: number[] = [];
  const blobs: ScriptArgument[] = [];
  const more: ScriptArgument[] = [];
  const seen = new Set<string>();
  let specials = 0;
  let size = 0;
  let before: NewTask | undefined;
  for (const [at, task] of tasks.entries()) {
    const { id, user, queue, payload } = task;
    if (size > 0 && (before?.user !== user || before.queue !== queue)) {
      sizes.push(size);
      size = 0;
    }
    if (size === 0) owners.push(user, queue);
    size++;
    before = task;
    const special = specialsOf(task);
    const long = payload.length > INLINE;
    if (special !== undefined || task.level !== USUAL_LEVEL || seen.has(id)) specials++;
    seen.add(id);
    blobs.push(blobOf(task, (long ? KIND.long : 0) + (special === undefined ? 0 : KIND.special)));
    if (long) more.push(at + 1, payload);
    if (special !== undefined) more.push(at + 1, special);
  }
  if (size > 0) sizes.push(size);
  args.push([tasks.length, specials, ...sizes].join(' '), ...owners);
  for (const { id } of tasks) args.push(id);
  args.push(...blobs, ...more);
}

/** The client's part of a record's text. */
export function blobOf(task: NewTask, kind: number): string {
  const { level, cost, name, queue, options, user, payload } = task;
  checkOptionsText(options);
  const owner = `${String(byteLength(user)).padStart(3, '0')}${user}${queue}`;
  const facts = `${name}${NUL}${cost}${NUL}${options}${NUL}${kind % KIND.special === KIND.long ? '' : payload}`;
  return `${level}${kind}${owner}${NUL}${facts}`;
}

/** Another input of a task, in the format of lua/tasks/redrive.lua. */
export function editedInput({ payload, options }: EditedTask): readonly string[] {
  checkOptionsText(options);
  const isLong = payload.length > INLINE;
  return [`${options}${NUL}`, isLong ? '' : payload, isLong ? payload : ''];
}

function checkOptionsText(options: string): void {
  if (options.includes(NUL)) throw new InvalidOptionError('options', 'JSON text', options);
}

/** Due at once, never expires, without dependencies and key: as most tasks are. */
export function isPlainTask(task: NewTask): boolean {
  return (
    task.delayMs === undefined &&
    task.executeAfter === undefined &&
    task.expiresInMs === undefined &&
    task.dependsOn.length === 0 &&
    task.idempotency === undefined &&
    task.join === undefined &&
    task.owner === undefined &&
    task.graph === undefined
  );
}

/** Rare facts as JSON; `undefined` for most tasks. */
function specialsOf(task: NewTask): string | undefined {
  if (isPlainTask(task)) return undefined;
  const { delayMs, executeAfter, expiresInMs, dependsOn, edges, idempotency } = task;
  return JSON.stringify({
    delay: delayMs,
    at: executeAfter,
    expires: expiresInMs,
    [packedName('startWithin')]: task.expiresFrom === undefined ? undefined : true,
    [packedName('isJoin')]: task.join,
    [packedName('ownerRun')]: task.owner,
    [packedName('graphHash')]: task.graph,
    ...(dependsOn.length === 0
      ? {}
      : { [packedName('waitsOn')]: dependsOn, [packedName('policies')]: policiesOf(edges) }),
    ...(idempotency === undefined ? {} : { [packedName('keySpec')]: keyText(idempotency) }),
  });
}

/** The stored name of a rare fact. */
function packedName(fact: keyof typeof PACKED_NAMES.optional): string {
  return PACKED_NAMES.optional[fact][0];
}

function keyText(spec: KeySpec): object {
  const { key, policy } = spec;
  switch (spec.policy) {
    case 'debounce':
      return { key, policy, wait: spec.waitMs, most: spec.maxWaitMs };
    case 'throttle':
      return { key, policy, per: spec.perMs, trailing: spec.trailing };
    case 'return':
    case 'reject':
    case 'replace-queued':
    case 'run-once-more':
      return { key, policy, ttl: spec.ttlMs };
  }
}

function policiesOf(edges: EdgePolicies): readonly unknown[] {
  return [edges.onFailure, edges.onCancel, edges.onMissing, edges.allowCrossUser];
}

/** Cost of a task in a script's budget: one unit, and one for each dependency. */
export function unitsOf(task: NewTask): number {
  return 1 + task.dependsOn.length;
}

/** Estimated number of bytes that a task adds to a call. */
export function bytesOf(task: NewTask): number {
  return 3 * task.payload.length + task.options.length + 200 + 130 * task.dependsOn.length;
}

/** Retention times and counts: `ms:count,ms:count,ms:count`. */
export function retentionText(retention: Retention): string {
  return [
    `${retention.finishedMs}:${retention.finishedCount ?? ''}`,
    `${retention.failedMs}:${retention.failedCount ?? ''}`,
    `${retention.canceledMs}:${retention.canceledCount ?? ''}`,
  ].join(',');
}

/**
 * Appends one lease request in the format of lua/lib/steps/lease-step.lua. `got`: the request for
 * which the worker got its latest handed task, or ''.
 */
export function pushLease(
  args: ScriptArgument[],
  request: LeaseRequest,
  retention: string,
  got: string,
): void {
  const { requestId, limit, leaseMs, wait, queues } = request;
  let spec = `${leaseMs}\0${retention}`;
  for (const { queue, weight } of queues) spec += `\0${queue}\0${weight}`;
  args.push(requestId, limit, waitText(wait, requestId, got), spec);
  if (queues.length > 1) for (const { pass } of queues) args.push(pass);
}

/** Whether the worker waits when it gets nothing, the spread of its sleep in [0, 1), and `got`. */
function waitText(wait: LeaseRequest['wait'], requestId: string, got: string): string {
  const how = wait === 'hand' ? '2' : wait ? '1' : '0';
  return `${how}${spreadOf(requestId).toFixed(3)}${got}`;
}

/** Appends the settlements of a call in the format of lua/lib/steps/settle-many.lua. */
export function pushSettlements(args: ScriptArgument[], settlements: readonly Settlement[]): void {
  const [only] = settlements;
  const result = only === undefined || settlements.length > 1 ? undefined : usualResult(only);
  if (only === undefined || result === undefined) pushManySettlements(args, settlements);
  else args.push('1 0 1', only.token, only.id, result);
}

function pushManySettlements(args: ScriptArgument[], settlements: readonly Settlement[]): void {
  const tokens: ScriptArgument[] = [];
  const sizes: number[] = [];
  const others: ScriptArgument[] = [];
  const firsts: ScriptArgument[] = [];
  const seen = new Set<string>();
  let size = 0;
  for (const [at, settlement] of settlements.entries()) {
    const { id, token } = settlement;
    if (size > 0 && token !== settlements[at - 1]?.token) {
      sizes.push(size);
      size = 0;
    }
    if (size === 0) tokens.push(token);
    size++;
    const result = seen.has(id) ? undefined : usualResult(settlement);
    seen.add(id);
    if (result !== undefined) {
      firsts.push(result);
      continue;
    }
    const [first, ...other] = argumentsOf(settlement);
    firsts.push(first);
    others.push(at + 1, ...other);
  }
  if (size > 0) sizes.push(size);
  args.push([settlements.length, others.length / 4, ...sizes].join(' '), ...tokens);
  for (const { id } of settlements) args.push(id);
  args.push(...firsts, ...others);
}

/** The result of a plain 'finish', which is all that is sent. */
function usualResult({ decision, channel, xcom }: Settlement): string | undefined {
  if (decision.type !== 'finish' || channel !== undefined || xcom !== undefined) return undefined;
  return decision.result.length > LIMITS.apartBytes ? undefined : decision.result;
}

/** The first argument of a decision, the decision, and two more. */
function argumentsOf(
  settlement: Settlement,
): readonly [ScriptArgument, ScriptArgument, ScriptArgument, ScriptArgument] {
  const { decision, channel, xcom } = settlement;
  const { type } = decision;
  switch (decision.type) {
    case 'finish': {
      if (channel === undefined && xcom === undefined) return [decision.result, type, '', ''];
      const rows = writesText(channel?.writes ?? [], xcom);
      return [decision.result, 'write', channel?.run ?? '', rows];
    }
    case 'retry':
      return [decision.delayMs, type, causeJson(decision), decision.error];
    case 'dead-letter':
      return [causeJson(decision), type, decision.error, ''];
    case 'cancel':
      return [causeJson(decision), type, '', ''];
    case 'suspend': {
      const { waitFor, wakeOn, wakeAfterMs, wait } = decision;
      const what =
        wait === undefined
          ? waitFor
          : { ...awaitedOf(wait.for), entry: wait.entry, within: wait.withinMs };
      return [JSON.stringify(what), type, `${wakeOn}${wakeText(decision)}`, wakeAfterMs ?? ''];
    }
    case 'release':
      return [decision.delayMs ?? '', type, causeJson(decision), ''];
  }
}

/** What continues at the wake-up, in the format of lua/lib/steps/suspend.lua. */
function wakeText({ attended, timeLeft, decides }: Suspension): string {
  if (decides) return ' decides';
  if (!attended) return '';
  return timeLeft === undefined ? ' attended' : ` attended ${timeLeft}`;
}

/** In the format of lua/lib/steps/wait.lua. */
function awaitedOf(awaited: WaitTarget): object {
  if (awaited.kind === 'event') return { kind: awaited.kind, name: eventPair(awaited) };
  if (awaited.kind !== 'ask') return awaited;
  const { kind, ask } = awaited;
  return { kind, name: askPlace(ask.id)?.mark, ask: askSpecText(ask) };
}

function causeJson({ cause }: { readonly cause: Cause }): string {
  return JSON.stringify(cause);
}

/** Writes of a handler in the format of lua/lib/records/writes.lua. */
export function writesText(
  writes: readonly ChannelWrite[],
  xcom: readonly XComWrite[] = [],
): string {
  return JSON.stringify([...writes.map(channelRow), ...xcom.map(xcomRow)]);
}

function channelRow(write: ChannelWrite): readonly unknown[] {
  const { type, field } = write;
  if (type === 'delete') return [type, field];
  if (type === 'set') return [type, field, write.text];
  const given = type === 'add' ? write.by : write.text;
  return write.once === undefined ? [type, field, given] : [type, field, given, write.once];
}

/** In the format of lua/lib/records/xcom.lua. */
export function xcomRow(write: XComWrite): readonly unknown[] {
  const { user, namespace, key } = write.place;
  if (write.type === 'delete') return ['drop', user, namespace, key];
  return ['push', user, namespace, key, write.text, write.ttlMs];
}

/** Settings and patches are sent as JSON; `null` removes a field. */
export function patchText(patch: UserPatch | QueuePatch): string {
  return JSON.stringify(patch);
}

/** A number in [0, 1) from a unique text, so that workers spread out. */
export function spreadOf(text: string): number {
  let hash = 0;
  for (let i = 0; i < text.length; i++) {
    hash = (hash * 31 + text.charCodeAt(i)) % 1_000;
  }
  return hash / 1_000;
}

function byteLength(text: string): number {
  return Buffer.byteLength(text);
}
