/** States of the nodes inside groups of a driven run, as far as the run itself has them. */

import type { ValueCodec } from '../../codec/codec.ts';
import type { Inspect } from '../../domain/port/backend.ts';
import { isEnd, type TaskState } from '../../domain/task/task.ts';
import { allNodes, type EachNode, type GraphBlock, type ParallelNode } from '../../graph/graph.ts';
import { recordIn } from './journal-fields.ts';
import { type DrivenRun, openIds, replay } from './seeds.ts';

type GroupNode = ParallelNode | EachNode;
type States = Map<string, TaskState>;

/** States by id of the node; nodes without known state are omitted. */
export async function memberStates(
  tools: { readonly codec: ValueCodec; readonly inspect: Pick<Inspect, 'status'> },
  run: DrivenRun,
): Promise<ReadonlyMap<string, TaskState>> {
  const states: States = new Map();
  try {
    for (const node of allNodes(run.graph)) {
      if (node.kind === 'parallel' || node.kind === 'each')
        markEnded(tools.codec, run, node, states);
    }
    await markOpen(tools, run, states);
  } catch {
    // A run with a damaged journal must still be listed.
  }
  return states;
}

/** A group that has ended: its value contains how each member ended. */
function markEnded(codec: ValueCodec, run: DrivenRun, node: GroupNode, states: States): void {
  const { fields } = run;
  let visit = 0;
  while (fields[`n:${node.id}#${visit + 1}`] !== undefined) visit++;
  const record = recordIn((name) => fields[name], `${node.id}#${visit}`);
  if (record?.kind !== 'output') return;
  const value = codec.read(record.text);
  const { policy } = node;
  const mustFinish = (key: string): boolean =>
    policy.kind === 'strict' || (policy.kind === 'critical' && policy.members.includes(key));
  const stateOf = (key: string): TaskState =>
    mustFinish(key) || Reflect.get(Object(Reflect.get(Object(value), key)), 'ok') !== false
      ? 'finished'
      : 'failed';
  if (node.kind === 'each') markAll(node.block, 'finished', states);
  else for (const { key, block } of node.members) markAll(block, stateOf(key), states);
}

/** A group whose members are tasks now. */
async function markOpen(
  { codec, inspect }: { readonly codec: ValueCodec; readonly inspect: Pick<Inspect, 'status'> },
  run: DrivenRun,
  states: States,
): Promise<void> {
  const { next } = replay(codec, run);
  if (next.type !== 'group') return;
  const ids = openIds(run, next);
  if (ids === undefined) return;
  const found = (await inspect.status(ids)).map((one) => one?.state);
  if (next.node.kind === 'each') {
    const state = stateOfAll(found);
    if (state !== undefined) markAll(next.node.block, state, states);
    return;
  }
  for (const [at, { block }] of next.node.members.entries()) {
    const state = found[at];
    // For a driven member only its own journal has the details.
    if (state !== undefined && (isEnd(state) || isOneTask(block))) markAll(block, state, states);
  }
}

/** One node represents all elements. */
function stateOfAll(states: readonly (TaskState | undefined)[]): TaskState | undefined {
  if (states.some((state) => state === undefined || !isEnd(state))) return 'started';
  return states.find((state) => state !== 'finished') ?? states[0];
}

function isOneTask(block: GraphBlock): boolean {
  return block.nodes.length === 1 && block.nodes[0]?.kind === 'task';
}

function markAll(block: GraphBlock, state: TaskState, states: States): void {
  for (const { id } of allNodes(block)) states.set(id, state);
}
