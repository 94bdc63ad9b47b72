/** Seeds: outcomes of a driven run from which another one continues. */

import type { ValueCodec } from '../../codec/codec.ts';
import { InvalidOptionError } from '../../domain/errors/errors.ts';
import type { Backend, Inspect } from '../../domain/port/backend.ts';
import { allNodes, type TaskGraph } from '../../graph/graph.ts';
import { executedGraph, idsIn } from '../../graph/graph-start.ts';
import { RunWalk, type WalkStep } from '../../graph/run-walk.ts';
import { memberTaskId } from '../record.ts';
import { outcomeOf } from './controls.ts';
import { earlierOutputField, type OpenedGroup, recordIn } from './journal-fields.ts';

type Fields = Readonly<Record<string, string>>;

/** The current state of a driven run. */
export interface DrivenRun {
  readonly id: string;
  readonly graph: TaskGraph;
  readonly input: unknown;
  /** Fields of its journal. */
  readonly fields: Fields;
}

/** How far a walk gets with the stored outcomes. */
export interface Replayed {
  /** The fields that it uses. */
  readonly fields: Fields;
  /** The next step. */
  readonly next: WalkStep;
}

/**
 * Replays the stored entries, up to the first step that has to run again.
 *
 * @throws the error of an entry that cannot be read.
 */
export function replay(
  codec: ValueCodec,
  { graph, input, fields }: Omit<DrivenRun, 'id'>,
  isAgain: (step: WalkStep) => boolean = () => false,
): Replayed {
  const kept: Record<string, string> = {};
  const walk = new RunWalk({ graph, block: graph, input, isMember: false });
  for (;;) {
    const step = walk.next();
    if (step.type === 'end' || isAgain(step)) return { fields: kept, next: step };
    const key = keyOf(step);
    const record = recordIn((name) => fields[name], key);
    if (record === undefined) return { fields: kept, next: step };
    kept[`n:${key}`] = fields[`n:${key}`] ?? '';
    if ('graph' in record) Object.assign(kept, graphsIn(fields));
    walk.settle(outcomeOf(codec, record));
  }
}

/** The results that another run reuses: finished nodes and finished members. */
export async function seedOf(
  tools: { readonly codec: ValueCodec; readonly backend: Pick<Backend, 'inspect'> },
  run: DrivenRun,
  from: string | undefined,
): Promise<Fields> {
  const again = from === undefined ? undefined : againFrom(run.graph, from);
  const { fields, next } = replay(tools.codec, run, again);
  if (next.type !== 'group' || again?.(next) === true) return fields;
  const opened = run.fields[`o:${keyOf(next)}`];
  const members = opened === undefined ? earlierOutputsIn(run.fields, next) : undefined;
  return { ...fields, ...(members ?? (await membersOf(tools.backend.inspect, run, next))) };
}

/** Whether a step is the node, is inside it, or is a group around it. */
function againFrom(graph: TaskGraph, from: string): (step: WalkStep) => boolean {
  const nodes = [...allNodes(executedGraph(graph))];
  const start = nodes.find(({ id }) => id === from);
  if (start === undefined) {
    throw new InvalidOptionError('from', `a node of ${graph.name} that runs`, from);
  }
  const inside = idsIn(start);
  return (step) => step.type !== 'end' && (inside.has(step.node.id) || idsIn(step.node).has(from));
}

/** Outputs of the finished members of an open group. */
async function membersOf(
  inspect: Pick<Inspect, 'status'>,
  run: DrivenRun,
  step: WalkStep & { readonly type: 'group' },
): Promise<Fields> {
  const key = keyOf(step);
  const { members } = step;
  const ids = openIds(run, step) ?? [];
  const status = await inspect.status(ids);
  const given: Record<string, string> = {};
  for (const [at, { key: member }] of members.entries()) {
    const one = status[at];
    if (one?.state === 'finished') given[earlierOutputField(key, member)] = one.result ?? '';
  }
  return given;
}

/** Ids of a group's members, in their order; `undefined` when the group is not open. */
export function openIds(
  { id: runId, fields }: DrivenRun,
  { node, visit, members }: WalkStep & { readonly type: 'group' },
): readonly string[] | undefined {
  const text = fields[`o:${node.id}#${visit}`];
  if (text === undefined) return undefined;
  const { epoch, epochs, opener }: OpenedGroup = JSON.parse(text);
  return members.map(({ key: member }, at) =>
    memberTaskId({ runId, opener, path: node.id, visit, epoch: epochs?.[at] ?? epoch, member }),
  );
}

/** Outputs of members in its own seed, for a group that it has not opened yet. */
function earlierOutputsIn(fields: Fields, step: WalkStep & { readonly type: 'group' }): Fields {
  const start = earlierOutputField(keyOf(step), '');
  return picked(fields, (name) => name.startsWith(start));
}

function graphsIn(fields: Fields): Fields {
  return picked(fields, (name) => name.startsWith('g:'));
}

function picked(fields: Fields, isWanted: (name: string) => boolean): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => isWanted(name)));
}

function keyOf(step: Exclude<WalkStep, { readonly type: 'end' }>): string {
  return `${step.node.id}#${step.visit}`;
}
