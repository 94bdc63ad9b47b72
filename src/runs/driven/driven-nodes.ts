/** The nodes of a driven run: from what it wrote down, and from the tasks that it waits for. */

import type { ValueCodec } from '../../codec/codec.ts';
import type { Inspect, RunStore } from '../../domain/port/backend.ts';
import { failedNodeOf } from '../../domain/task/cause.ts';
import { isEnd, type TaskRecord, type TaskState } from '../../domain/task/task.ts';
import { leftOut } from '../../graph/graph-start.ts';
import { recordsOf } from '../failure-cause.ts';
import type { KnownGraph } from '../known-graph.ts';
import { JOIN_TASK, runPlaceOf } from '../record.ts';
import { nodeInfo, type RunNodeInfo, type RunNodeState } from '../run-info.ts';
import { memberStates } from './member-states.ts';

/** A task that a driven run waits for. */
export interface OpenMember {
  /** Its group and its name in that, as `~group.a/x`. */
  readonly node: string;
  readonly record: TaskRecord;
}

/** A driven run, to be shown. */
export interface ShownRun {
  readonly known: KnownGraph;
  readonly root: TaskRecord;
  readonly codec: ValueCodec;
  readonly input: unknown;
}

/** Where the nodes of a driven run stand, then the members that are open. */
export async function drivenNodes(
  backend: { readonly inspect: Inspect; readonly runs: RunStore },
  { known, root, codec, input }: ShownRun,
): Promise<readonly RunNodeInfo[]> {
  const written = await backend.runs.load(root.id);
  const done = nodesIn(written, 'n:');
  const open = nodesIn(written, 'o:');
  const run = { id: root.id, graph: known.graph, input, fields: written };
  const inner = await memberStates({ codec, inspect: backend.inspect }, run);
  const failed = failedNodeOf(root.cause);
  const rest = restOf(root.state);
  const left = leftOut(known.graph);
  const nodes = known.shown.nodes.flatMap((node): readonly RunNodeInfo[] => {
    if (node.kind === 'join') return [];
    const { id } = node;
    if (id === failed) return [{ ...nodeInfo(id, root), state: 'failed' }];
    if (done.has(id)) return [{ node: id, state: 'finished' }];
    if (left.has(id)) return [{ node: id, state: 'skipped' }];
    return [{ node: id, state: inner.get(id) ?? rest(open.has(id)) }];
  });
  const members = await openMembers(backend.inspect, root);
  return [...nodes, ...members.map(({ node, record }) => nodeInfo(node, record))];
}

/** The state of nodes that have not finished, by that of their run and whether they were begun. */
function restOf(run: TaskState): (wasBegun: boolean) => RunNodeState {
  if (!isEnd(run)) return (wasBegun) => (wasBegun ? 'started' : 'pending');
  // What was under way when the run ended, ended with it.
  return (wasBegun) => (wasBegun && run !== 'finished' ? run : 'skipped');
}

/**
 * What a run or another task waits for as its own, and what that waits for: every member that has not
 * ended. Tasks of others, on which it depends, are none.
 */
export async function openMembers(
  inspect: Inspect,
  root: TaskRecord,
): Promise<readonly OpenMember[]> {
  return membersBelow(inspect, [root], new Set());
}

/** What is open below several tasks, and is none of them. */
export async function openBelow(
  inspect: Inspect,
  ids: readonly string[],
): Promise<readonly OpenMember[]> {
  const records = await recordsOf(inspect, ids);
  const waits = records.filter((record) => record?.state === 'deferred');
  return membersBelow(inspect, waits.filter(isStored), new Set(ids));
}

async function membersBelow(
  inspect: Inspect,
  roots: readonly TaskRecord[],
  seen: Set<string>,
): Promise<readonly OpenMember[]> {
  const runs = new Set(roots.map(({ id, options }) => runPlaceOf(options)?.id ?? id));
  const found: OpenMember[] = [];
  let level = roots.flatMap(({ blockedBy }) => blockedBy);
  while (level.length > 0) {
    const fresh = [...new Set(level)].filter((id) => !seen.has(id));
    for (const id of fresh) seen.add(id);
    const records = await recordsOf(inspect, fresh);
    const open = records.filter(isStored).filter(({ state }) => !isEnd(state));
    const own = open.filter(({ name, options }) => {
      return name === JOIN_TASK || runs.has(runPlaceOf(options)?.id ?? '');
    });
    for (const record of own) {
      const node = runPlaceOf(record.options)?.node;
      if (record.name !== JOIN_TASK && node !== undefined) found.push({ node, record });
    }
    level = own.flatMap(({ blockedBy }) => blockedBy);
  }
  // Longer names have the higher numbers.
  return found.sort((a, b) => a.node.length - b.node.length || (a.node < b.node ? -1 : 1));
}

function isStored(record: TaskRecord | undefined): record is TaskRecord {
  return record !== undefined;
}

/** Nodes about which something was written down: fields are named by node and visit. */
function nodesIn(written: Readonly<Record<string, string>>, kind: string): ReadonlySet<string> {
  const nodes = Object.keys(written).flatMap((field) =>
    field.startsWith(kind) ? [field.slice(kind.length).replace(/[#@]\d+$/, '')] : [],
  );
  return new Set(nodes);
}
