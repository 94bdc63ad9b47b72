/**
 * The law of a walk: given a graph, and the outcomes of the steps so far, which step is next. Knows no store,
 * no clock and no handler; the same outcomes always lead the same way, so a walk is resumed by walking again
 * with the stored outcomes.
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

/** A member of a group as it is to be run. */
export interface WalkMember {
  /** Its name in the group; its position in a tuple or an array. */
  readonly key: string;
  readonly block: GraphBlock;
  readonly input: unknown;
}

/** What is to be done next. `visit` counts how often the node was come to, from 1. */
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
      /** The graph in which the group stands: that of the run, or one that a handler brought in. */
      readonly graph: TaskGraph;
    }
  | { readonly type: 'end'; readonly ending: Ending };

/** How a walk ends. `terminated` is an end of the whole run, also inside of a member. */
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
      /** The name by which a node of the graph is looked for. */
      readonly target: string;
      /** Run instead when there is no such node. */
      readonly graph: TaskGraph;
      readonly input: unknown;
    };

/** What a walk is through. */
export interface WalkSpec {
  readonly graph: TaskGraph;
  /** The part of it that is walked: all of it, or a member of a group. */
  readonly block: GraphBlock;
  readonly input: unknown;
  /** A member of a group has no way out by `goto`. */
  readonly isMember: boolean;
  /** Tasks and groups that it may come to, up to `LIMITS.runSteps`, which is the default. */
  readonly maxSteps?: number | undefined;
}

/** One walk through a block, from its first step to its end. */
export class RunWalk {
  readonly #isMember: boolean;
  readonly #maxSteps: number;
  /** The innermost last. Never empty before the end. */
  #frames: WalkFrame[];
  /** How often each node was come to. */
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

  /** Steps so far, the one in hand included. */
  get steps(): number {
    return this.#steps;
  }

  /** What is to be done now; the same until {@link RunWalk.settle}. */
  next(): WalkStep {
    this.#current ??= this.#advance();
    return this.#current;
  }

  /** Takes the outcome of the step that `next` gave. */
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

  /** Goes on to the next step, through the starts and ends of blocks. */
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

  /** The innermost block is through. */
  #leave(frame: WalkFrame): Ending | undefined {
    const value = frame.output();
    this.#frames.pop();
    const outer = this.#frames.at(-1);
    if (outer !== undefined && !frame.isExit) {
      // The node that is under way there: a block, or a task that brought this graph in.
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
      // What stands around the target is given up; so is what was to follow the node under way.
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

/** Graphs of before may say 0; a node that is come to runs. */
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
 * The task that a block comes to, when that is all there is to it: one static task that gets what
 * the block is given or a part of it, and whose output is the block's.
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
