/**
 * A walk: computes the next step from a graph and the outcomes so far. It has no store, clock or handler. It
 * is deterministic, so a run resumes by walking again with the stored outcomes.
 */
import { assertNever } from '../base/never.ts';
import {
  GotoInGroupError,
  InvalidPayloadError,
  MaxCyclesError,
  MaxStepsError,
} from '../domain/errors/errors.ts';
import { LIMITS } from '../domain/limits.ts';
import type { Cause } from '../domain/task/cause.ts';
import { shownNode } from '../domain/task/node-name.ts';
import type {
  EachNode,
  GraphBlock,
  GraphNode,
  ParallelNode,
  TaskGraph,
  TaskNode,
} from './graph.ts';
import { fill } from './graph-binding.ts';
import { WalkFrame } from './walk-frame.ts';

/** A member of a group that is to run. */
export interface WalkMember {
  /** Key in the group; its position in a tuple or an array. */
  readonly key: string;
  readonly block: GraphBlock;
  readonly input: unknown;
}

/** The next step. `visit` counts the runs of the node, from 1. */
export type WalkStep =
  | {
      readonly type: 'task';
      readonly node: TaskNode;
      readonly visit: number;
      readonly input: unknown;
    }
  | {
      readonly type: 'group';
      readonly node: ParallelNode | EachNode;
      readonly visit: number;
      readonly members: readonly WalkMember[];
      /** The graph that contains the group: that of the run, or one that a handler returned. */
      readonly graph: TaskGraph;
    }
  | { readonly type: 'end'; readonly ending: Ending };

/** The end of a walk. `terminated` ends the whole run, also inside a member. */
export type Ending =
  | { readonly type: 'finished' | 'terminated'; readonly value: unknown }
  | { readonly type: 'failed'; readonly error: unknown }
  | { readonly type: 'canceled'; readonly cause: Cause };

/** The outcome of a step. */
export type StepOutcome =
  | { readonly type: 'output'; readonly value: unknown }
  | { readonly type: 'failed'; readonly error: unknown }
  | { readonly type: 'canceled'; readonly cause: Cause }
  | { readonly type: 'terminate'; readonly value: unknown }
  | { readonly type: 'again'; readonly input: unknown }
  | { readonly type: 'next'; readonly graph: TaskGraph; readonly input: unknown }
  | {
      readonly type: 'goto';
      /** Name of a node of the graph. */
      readonly target: string;
      /** Runs instead if there is no such node. */
      readonly graph: TaskGraph;
      readonly input: unknown;
    };

/** Options of a walk. */
export interface WalkSpec {
  readonly graph: TaskGraph;
  /** The block to walk: the whole graph, or a member of a group. */
  readonly block: GraphBlock;
  readonly input: unknown;
  /** A member of a group cannot be left by `goto`. */
  readonly isMember: boolean;
  /** Limit of executed tasks and groups, up to `LIMITS.runSteps`, the default. */
  readonly maxSteps?: number | undefined;
}

/** One walk through a block, from its first step to its end. */
export class RunWalk {
  readonly #isMember: boolean;
  readonly #maxSteps: number;
  /** Blocks under way, the innermost last. Never empty before the end. */
  #frames: WalkFrame[];
  /** Number of runs of each node. */
  readonly #visits = new Map<string, number>();
  #steps = 0;
  /** The step whose outcome is awaited, or the end. */
  #current: WalkStep | undefined;

  constructor({ graph, block, input, isMember, maxSteps = LIMITS.runSteps }: WalkSpec) {
    this.#isMember = isMember;
    this.#maxSteps = maxSteps;
    const frame = new WalkFrame({ graph, block, input, isExit: false });
    if (block === graph && graph.start !== undefined) frame.begin(graph.start, input);
    this.#frames = [frame];
  }

  /** Number of steps so far, including the current one. */
  get steps(): number {
    return this.#steps;
  }

  /** The current step; the same until {@link RunWalk.settle}. */
  next(): WalkStep {
    this.#current ??= this.#advance();
    return this.#current;
  }

  /** Records the outcome of the current step. */
  settle(outcome: StepOutcome): void {
    const step = this.next();
    if (step.type === 'end') return;
    this.#current = undefined;
    const { node } = step;
    switch (outcome.type) {
      case 'output':
        this.#top.finish(node.id, outcome.value);
        return;
      case 'failed':
        this.#end({ type: 'failed', error: outcome.error });
        return;
      case 'canceled':
        this.#end({ type: 'canceled', cause: outcome.cause });
        return;
      case 'terminate':
        this.#end({ type: 'terminated', value: outcome.value });
        return;
      case 'again':
        this.#top.repeat(node.id, outcome.input);
        return;
      case 'next': {
        const { graph, input } = outcome;
        this.#frames.push(new WalkFrame({ graph, block: graph, input, isExit: false }));
        return;
      }
      case 'goto':
        this.#goto(node.id, outcome);
        return;
      default:
        assertNever(outcome);
    }
  }

  get #top(): WalkFrame {
    const top = this.#frames.at(-1);
    if (top === undefined) throw new InvalidPayloadError('$', 'the walk has ended');
    return top;
  }

  /** Finds the next step; enters and leaves blocks. */
  #advance(): WalkStep {
    try {
      for (;;) {
        const frame = this.#top;
        const node = frame.take();
        if (node === undefined) {
          const ending = this.#leave(frame);
          if (ending !== undefined) return { type: 'end', ending };
        } else if (node.kind === 'block') {
          const { graph } = frame;
          const input = frame.inputOf(node);
          this.#frames.push(new WalkFrame({ graph, block: node.block, input, isExit: false }));
        } else return this.#step(frame, node);
      }
    } catch (error) {
      return { type: 'end', ending: { type: 'failed', error } };
    }
  }

  /** Leaves the innermost block, which is complete. */
  #leave(frame: WalkFrame): Ending | undefined {
    const value = frame.output();
    this.#frames.pop();
    const outer = this.#frames.at(-1);
    if (outer !== undefined && !frame.isExit) {
      // The current node of the outer block: a block, or a task that returned this graph.
      outer.finish(outer.current, value);
      return undefined;
    }
    return { type: frame.isExit ? 'terminated' : 'finished', value };
  }

  #step(frame: WalkFrame, node: Exclude<GraphNode, { kind: 'block' }>): WalkStep {
    if (this.#steps >= this.#maxSteps) {
      const left = this.#frames.toReversed().flatMap((one) => one.left());
      throw new MaxStepsError(left, this.#maxSteps);
    }
    const visit = (this.#visits.get(node.id) ?? 0) + 1;
    if (node.kind === 'task' && node.dynamic !== undefined && visit > maxRunsOf(node.dynamic)) {
      throw new MaxCyclesError(node.id, node.dynamic.maxCycles);
    }
    this.#visits.set(node.id, visit);
    this.#steps++;
    const input = frame.inputOf(node);
    if (node.kind === 'task') return { type: 'task', node, visit, input };
    return { type: 'group', node, visit, members: membersOf(node, input), graph: frame.graph };
  }

  #goto(from: string, { target, graph, input }: StepOutcome & { readonly type: 'goto' }): void {
    for (let at = this.#frames.length - 1; at >= 0; at--) {
      const frame = this.#frames[at];
      const found = frame?.find(target);
      if (frame === undefined || found === undefined) continue;
      // The jump abandons blocks inside the target's block, and the successors of the current node.
      this.#frames = this.#frames.slice(0, at + 1);
      frame.jump(frame.current, found, input);
      return;
    }
    if (this.#isMember) {
      this.#end({ type: 'failed', error: new GotoInGroupError(from, target) });
      return;
    }
    this.#frames = [new WalkFrame({ graph, block: graph, input, isExit: true })];
  }

  #end(ending: Ending): void {
    this.#frames = [];
    this.#current = { type: 'end', ending };
  }
}

/** Graphs of earlier versions may contain 0; a node still runs once. */
function maxRunsOf({ maxCycles }: NonNullable<TaskNode['dynamic']>): number {
  return Math.max(1, maxCycles);
}

/** The members of a group with their inputs, in order. */
function membersOf(node: ParallelNode | EachNode, input: unknown): readonly WalkMember[] {
  if (node.kind === 'parallel') {
    return node.members.map(({ key, block }) => ({ key, block, input }));
  }
  if (!Array.isArray(input))
    throw new InvalidPayloadError('$', `${shownNode(node.id)} needs an array`);
  if (input.length > LIMITS.graphNodes) {
    throw new InvalidPayloadError(
      '$',
      `${shownNode(node.id)} takes at most ${LIMITS.graphNodes} elements`,
    );
  }
  return input.map((element: unknown, at) => ({
    key: String(at),
    block: node.block,
    input: element,
  }));
}

/**
 * The task that makes up a block: a static task that gets the block's input or a part of it, and
 * whose output is the block's; `undefined` for any other block.
 */
export function onlyTask(
  block: GraphBlock,
  input: unknown,
): { readonly node: TaskNode; readonly input: unknown } | undefined {
  const [node, ...others] = block.nodes;
  if (node?.kind !== 'task' || node.dynamic !== undefined || others.length > 0) return undefined;
  const { output } = block;
  if (output.from !== 'node' || output.node !== node.id || output.path !== undefined) {
    return undefined;
  }
  const given = fill(node.input, { input: () => input, output: () => undefined });
  return { node, input: given };
}
