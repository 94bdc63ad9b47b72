/** The nodes of a driven run, from its journal and from the tasks that it waits for. */

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

/** An open task that a driven run waits for. */
export interface OpenMember {
  /** Its group and its key in the group, as `~group.a/x`. */
  readonly node: string;
  readonly record: TaskRecord;
}

/** A driven run to list. */
export interface ShownRun {
  readonly known: KnownGraph;
  readonly root: TaskRecord;
  readonly codec: ValueCodec;
  readonly input: unknown;
}

/** The states of the nodes of a driven run, then its open members. */
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
  const rest = unfinishedState(root.state);
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

/** State of an unfinished node, by the state of its run and whether the node started. */
function unfinishedState(run: TaskState): (wasBegun: boolean) => RunNodeState {
  if (!isEnd(run)) return (wasBegun) => (wasBegun ? 'started' : 'pending');
  // A node that was running when the run ended has the end state of the run.
  return (wasBegun) => (wasBegun && run !== 'finished' ? run : 'skipped');
}

/**
 * The open tasks that a run or another task waits for as its own, with their own members: all members
 * that have not ended. Dependencies on tasks of others are excluded.
 */
export async function openMembers(
  inspect: Inspect,
  root: TaskRecord,
): Promise<readonly OpenMember[]> {
  return membersBelow(inspect, [root], new Set());
}

/** The open tasks below several tasks, without these. */
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

/** Nodes with an entry in the journal; fields are named by node and visit. */
function nodesIn(written: Readonly<Record<string, string>>, kind: string): ReadonlySet<string> {
  const nodes = Object.keys(written).flatMap((field) =>
    field.startsWith(kind) ? [field.slice(kind.length).replace(/[#@]\d+$/, '')] : [],
  );
  return new Set(nodes);
}
