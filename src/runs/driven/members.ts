/** The tasks of a group's members, and the joins through which a run waits for many tasks. */
import { inChunks } from '../../base/chunks.ts';
import type { ValueCodec } from '../../codec/codec.ts';
import { LIMITS } from '../../domain/limits.ts';
import { type EdgePolicies, isLevel, type Level, type NewTask } from '../../domain/task/task.ts';
import type { EachNode, GraphBlock, ParallelNode, TaskGraph, TaskNode } from '../../graph/graph.ts';
import { allNodes } from '../../graph/graph.ts';
import { needsAll } from '../../graph/group-verdict.ts';
import { codeOfNode } from '../../graph/node-code.ts';
import { onlyTask, type WalkMember } from '../../graph/run-walk.ts';
import {
  driveTaskFor,
  GIVEN_TASK,
  JOIN_TASK,
  LATE_PAYLOAD,
  memberIds,
  memberPayload,
  runOptions,
  type SaidPlace,
  sha256,
} from '../record.ts';

/** The producer of a group, and the place of its members. */
export interface ProducerFacts {
  /** Id of the task that waits for the members. */
  readonly taskId: string;
  /** Id of the whole run. */
  readonly runId: string;
  readonly user: string;
  readonly queue: string;
  readonly level: Level;
  /** Options of the enqueue that apply to all tasks. */
  readonly said: SaidPlace | undefined;
  readonly codec: ValueCodec;
}

/** A group before it is opened. */
export interface GroupPlace {
  readonly node: ParallelNode | EachNode;
  /** Unique among the groups of the producer, except for visits. */
  readonly path: string;
  readonly visit: number;
  readonly graph: string;
  /** Hash of its content. */
  readonly content: string;
  readonly members: readonly WalkMember[];
  readonly traceparent: string | undefined;
  /** The output that a member had before this run, as text. */
  earlierOutput(member: string): string | undefined;
}

/** A member without an id. */
export type DraftTask = Omit<NewTask, 'id'>;

/** Edges of a task that waits for others in any end state; they belong to the same user. */
const LENIENT: EdgePolicies = {
  onFailure: 'run',
  onCancel: 'run',
  onMissing: 'satisfied',
  allowCrossUser: false,
};

/** Edges of a task that ends with the first dependency that does not finish. */
const STRICT: EdgePolicies = { ...LENIENT, onFailure: 'fail', onCancel: 'cancel' };

/**
 * The members as tasks. A member that consists of one plain task is that task; any other is driven.
 *
 * @throws {@link InvalidPayloadError} when JSON would change an input.
 */
export function draftMembers(producer: ProducerFacts, group: GroupPlace): readonly DraftTask[] {
  const { codec, taskId: owner, runId, user, queue, level, said } = producer;
  const overrides = said === undefined ? {} : { said };
  const { traceparent } = group;
  const traced = traceparent === undefined ? {} : { traceparent };
  return group.members.map((member): DraftTask => {
    const path = `${group.node.id}/${member.key}`;
    const run = { id: runId, graph: group.graph, node: path, ...overrides };
    const common = { user, queue, level, cost: 1, owner, dependsOn: [], edges: LENIENT };
    const given = group.earlierOutput(member.key);
    if (given !== undefined) {
      return { ...common, name: GIVEN_TASK, payload: given, options: runOptions(traced, run) };
    }
    const only = onlyTask(member.block, member.input);
    if (only !== undefined) {
      return {
        ...common,
        ...placeOf(only.node, producer),
        name: codeOfNode(only.node, said),
        payload: codec.payload(only.node.id, only.input),
        options: runOptions(traced, run),
      };
    }
    return {
      ...common,
      name: driveTaskFor(member.block, said),
      payload: memberPayload(codec, { path, input: member.input }),
      options: runOptions({ retries: 0, timeoutMs: 0, ...traced }, run),
      graph: group.graph,
    };
  });
}

/** The group that owns the members. */
interface MemberOwner {
  readonly taskId: string;
  /** As in `OpenedGroup`. */
  readonly opener: string;
  readonly epochOf: (at: number) => number;
}

/** Edges of a member that must not start unless the one before it finishes. */
const CHAINED: EdgePolicies = { ...LENIENT, onFailure: 'cancel', onCancel: 'cancel' };

/** Adds ids to the members; with `concurrency` n each waits for the one n places before it. */
export function membersOf(
  { node, path, visit, members }: GroupPlace,
  drafts: readonly DraftTask[],
  { taskId: runId, opener, epochOf }: MemberOwner,
): readonly NewTask[] {
  const ofEpoch = new Map<number, (member: string) => string>();
  const ids = members.map(({ key }, at) => {
    const epoch = epochOf(at);
    const idOf = ofEpoch.get(epoch) ?? memberIds({ runId, opener, path, visit, epoch });
    ofEpoch.set(epoch, idOf);
    return idOf(key);
  });
  const { concurrency = members.length, failFast, policy } = node;
  const keys = members.map(({ key }) => key);
  const isOverAtOnce = failFast && needsAll(policy, keys);
  return drafts.map((draft, at) => {
    const before = ids[at - concurrency];
    const id = ids[at] ?? '';
    if (before === undefined) return { ...draft, id };
    return { ...draft, id, dependsOn: [before], edges: isOverAtOnce ? CHAINED : draft.edges };
  });
}

/** Hash of the members and their inputs. */
export function membersHash(group: GroupPlace, drafts: readonly DraftTask[]): string {
  const lines = drafts.map(({ name, payload }, at) =>
    JSON.stringify([group.members[at]?.key, name, payload]),
  );
  return sha256([group.content, ...lines].join('\n'));
}

/** The dependencies of a run, and the joins to store before. */
export interface FanIn {
  readonly waitFor: readonly string[];
  readonly joins: readonly NewTask[];
}

/** Limit of the ids, and the effect of a failure. */
export interface FanInLimits {
  readonly most: number;
  /** A dependency that does not finish fails the joins above it. */
  readonly isStrict: boolean;
  /** Every id is joined, even a single one: failures must not be visible. */
  readonly isHidden: boolean;
}

/** Reduces many ids to few by joins. The name of a join is derived from its dependencies. */
export function fanIn(
  { user, queue, level }: ProducerFacts,
  ids: readonly string[],
  { most, isStrict, isHidden }: FanInLimits,
): FanIn {
  const joins: NewTask[] = [];
  let waitFor = ids;
  while (waitFor.length > most || (isHidden && waitFor === ids && ids.length > 0)) {
    const next: string[] = [];
    for (const dependsOn of inChunks(waitFor, LIMITS.dependencies)) {
      const id = `~g.${sha256([isStrict, ...dependsOn].join('\n')).slice(0, ID_DIGITS)}`;
      const task = { id, name: JOIN_TASK, user, queue, level, cost: 1, payload: LATE_PAYLOAD };
      const edges = isStrict ? STRICT : LENIENT;
      joins.push({ ...task, options: '', dependsOn, edges, join: true });
      next.push(id);
    }
    waitFor = next;
  }
  return { waitFor, joins };
}

/** The block of a driven member, by its path; `undefined` when the graph has none. */
export function memberBlock(graph: TaskGraph, path: string): GraphBlock | undefined {
  const slash = path.indexOf('/');
  const [groupId, key] = [path.slice(0, slash), path.slice(slash + 1)];
  const node = groupsOf(graph).get(groupId);
  if (node?.kind === 'each') return node.block;
  return node?.members.find((member) => member.key === key)?.block;
}

/** Groups by graph, for graphs in which members were looked up. */
const GROUPS = new WeakMap<TaskGraph, ReadonlyMap<string, ParallelNode | EachNode>>();

function groupsOf(graph: TaskGraph): ReadonlyMap<string, ParallelNode | EachNode> {
  const known = GROUPS.get(graph);
  if (known !== undefined) return known;
  const groups = new Map<string, ParallelNode | EachNode>();
  for (const node of allNodes(graph)) {
    if (node.kind === 'parallel' || node.kind === 'each') groups.set(node.id, node);
  }
  GROUPS.set(graph, groups);
  return groups;
}

/** Precedence: enqueue, definition, place of the run. */
function placeOf(
  { options }: TaskNode,
  { queue, level, said = {} }: ProducerFacts,
): Pick<NewTask, 'queue' | 'level' | 'cost' | 'expiresInMs' | 'expiresFrom'> {
  const { queue: own, level: ownLevel, cost, expiresInMs } = options;
  return {
    queue: said.queue ?? (typeof own === 'string' ? own : queue),
    level: said.level ?? (isLevel(ownLevel) ? ownLevel : level),
    cost: said.cost ?? (typeof cost === 'number' ? cost : 1),
    ...(typeof expiresInMs === 'number' ? { expiresInMs, expiresFrom: 'release' } : {}),
  };
}

const ID_DIGITS = 32;
