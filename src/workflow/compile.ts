/**
 * Compiles steps to a graph.
 *
 * Inputs: a sequence passes each output to the next step; a group passes its own input to every
 * member; `each` passes one element to each copy; a flow binds inputs explicitly. The first step of
 * a pipeline gets the input of the run.
 */
import { DuplicateNodeError, InvalidOptionError } from '../domain/errors/errors.ts';
import { LIMITS } from '../domain/limits.ts';
import type { GraphBlock, GraphMember, GraphNode, TaskGraph } from '../graph/graph.ts';
import type { Binding } from '../graph/graph-binding.ts';
import { checkGraph } from '../graph/graph-check.ts';
import { nodeOptions } from './node-options.ts';
import {
  demandStep,
  PipelineDefinition,
  type PipelineShape,
  type StepDefinition,
} from './pipeline-definition.ts';
import type { TaskCode } from './task-code.ts';
import { definitionOf, type TaskDefinition } from './task-definition.ts';

const INPUT: Binding = Object.freeze({ from: 'input' });
const NOTHING: readonly string[] = Object.freeze([]);

/**
 * Compiles a step to the graph that `enqueue` and `run` use. Equal compositions have equal graphs;
 * the order in which members are written does not count.
 *
 * @throws {@link DuplicateNodeError} when two nodes have the same name; rename one by `as`.
 * @throws {@link InvalidOptionError} when the value is not a step, when the name of a node with the
 * names of its pipelines exceeds 64 characters, or when the graph exceeds its limits.
 */
export function compile(step: unknown): TaskGraph {
  const root = demandStep('step', step);
  const block = new Compiler(root.name).root(root);
  const graph = Object.freeze({ format: 1, name: root.name, ...block } as const);
  checkGraph(graph);
  return graph;
}

/** Position of a step in the composition. */
interface Place {
  readonly block: BlockBuilder;
  /** Names of the enclosing named pipelines, each followed by a dot. */
  readonly prefix: string;
  /** Number of enclosing groups and blocks. */
  readonly depth: number;
  /** Path for error messages. */
  readonly path: string;
  readonly input: Binding;
  readonly after: readonly string[];
  /** Version of its tasks that have none of their own. */
  readonly version: string | undefined;
}

/** The task of a block with the least id; it names groups without a name. */
interface Least {
  readonly id: string;
  /** Number of unnamed groups between the task and the block. */
  readonly level: number;
}

class BlockBuilder {
  readonly #nodes: GraphNode[] = [];
  least: Least | undefined = undefined;

  add(node: GraphNode, least: Least | undefined): string {
    this.#nodes.push(Object.freeze(node));
    if (least !== undefined && (this.least === undefined || least.id < this.least.id)) {
      this.least = least;
    }
    return node.id;
  }

  finish(output: Binding): GraphBlock {
    const nodes = this.#nodes.sort((a, b) => (a.id < b.id ? -1 : 1));
    return Object.freeze({ nodes: Object.freeze(nodes), output });
  }
}

class Compiler {
  readonly #name: string;
  /** Path of each node, by id. */
  readonly #paths = new Map<string, string>();
  /** Code of each task, by name. */
  readonly #code = new Map<string, TaskCode>();
  #emptyGroups = 0;

  constructor(name: string) {
    this.#name = name;
  }

  root(step: StepDefinition): GraphBlock {
    const block = new BlockBuilder();
    const start = { block, prefix: '', depth: 0, path: this.#name, input: INPUT, after: NOTHING };
    if (!(step instanceof PipelineDefinition)) {
      return block.finish(outputOf(this.#task(step, { ...start, version: undefined })));
    }
    const { shape, version } = step;
    const place = { ...start, version };
    // The outermost name is the graph's, and no prefix of node names.
    if (shape.kind === 'flow') return this.#flow(shape, place);
    const last = shape.kind === 'sequence' ? this.#sequence(step, place) : this.#group(step, place);
    return block.finish(outputOf(last));
  }

  /** Adds a step to a block. @returns the id of the node with its output. */
  #step(step: StepDefinition, outer: Place): string {
    if (!(step instanceof PipelineDefinition)) return this.#task(step, outer);
    const place = step.version === undefined ? outer : { ...outer, version: step.version };
    switch (step.shape.kind) {
      case 'flow':
        return this.#named(step, place);
      case 'sequence':
        return step.isNamed ? this.#named(step, place) : this.#sequence(step, place);
      default: {
        const prefix = step.isNamed ? `${place.prefix}${step.name}.` : place.prefix;
        return this.#group(step, { ...place, prefix });
      }
    }
  }

  #task(step: StepDefinition, place: Place): string {
    const task = definitionOf(step).within(place.version);
    this.#oneCode(task, place.path);
    const id = this.#claim(`${place.prefix}${task.name}`, place.path);
    const { version, versioning, ...options } = task.options;
    const isLatest = version !== undefined && versioning === 'latest';
    return place.block.add(
      {
        kind: 'task',
        id,
        task: task.taskName,
        ...(version === undefined ? {} : { version }),
        ...(isLatest ? { versioning } : {}),
        options: Object.freeze(nodeOptions(`task ${task.name}`, options)),
        ...(task.dynamic === undefined ? {} : { dynamic: Object.freeze({ ...task.dynamic }) }),
        input: place.input,
        after: place.after,
      },
      { id, level: 0 },
    );
  }

  /** Refuses two handlers under one name: the graph refers to handlers by name. */
  #oneCode({ codeName, code }: TaskDefinition, path: string): void {
    if (code.kind === 'elsewhere') return;
    const before = this.#code.get(codeName) ?? code;
    if (before !== code) throw new InvalidOptionError(path, 'one definition per name', codeName);
    this.#code.set(codeName, code);
  }

  /** Adds the steps of a sequence, one after the other. */
  #sequence(sequence: PipelineDefinition, place: Place): string {
    let last: string | undefined;
    for (const [at, step] of stepsOf(sequence).entries()) {
      const path = `${place.path}[${at}]`;
      const here = last === undefined ? place : { ...place, input: outputOf(last), after: NOTHING };
      last = this.#step(step, { ...here, path });
    }
    if (last === undefined) throw new InvalidOptionError(place.path, 'a step', sequence);
    return last;
  }

  /** Adds a named pipeline inside another: a block whose name prefixes the names of its nodes. */
  #named(step: PipelineDefinition, place: Place): string {
    const id = this.#claim(`${place.prefix}${step.name}`, place.path);
    const inner = this.#inside(place, { path: `${place.path}/${step.name}`, prefix: `${id}.` });
    const { shape } = step;
    const block =
      shape.kind === 'flow'
        ? this.#flow(shape, inner)
        : inner.block.finish(outputOf(this.#sequence(step, inner)));
    const { input, after } = place;
    return place.block.add({ kind: 'block', id, block, input, after }, inner.block.least);
  }

  #flow(shape: PipelineShape & { readonly kind: 'flow' }, place: Place): GraphBlock {
    const ids: string[] = [];
    const idOf = (number: string): string => ids[Number(number)] ?? '';
    for (const [at, { step, input, after }] of shape.steps.entries()) {
      const id = this.#step(step, {
        ...place,
        path: `${place.path}[${at}]`,
        input: renamed(input, idOf),
        after: Object.freeze([...new Set(after.map(idOf))].sort()),
      });
      ids.push(id);
    }
    return place.block.finish(renamed(shape.output, idOf));
  }

  #group(group: PipelineDefinition, place: Place): string {
    const { shape } = group;
    const { input, after } = place;
    if (shape.kind === 'parallel') {
      const blocks = shape.members.map(([key, step]) =>
        this.#block(step, this.#inside(place, { path: `${place.path}.${key}` })),
      );
      const least = leastOf(blocks.map((one) => one.least));
      const id = this.#groupId(group, place, least);
      const members = shape.members.map(([key], at): GraphMember => {
        const block = blocks[at]?.block ?? { nodes: [], output: INPUT };
        return Object.freeze({ key, block });
      });
      return place.block.add(
        {
          kind: 'parallel',
          id,
          shape: shape.shape,
          members: Object.freeze(members),
          ...shape.group,
          input,
          after,
        },
        raised(least, group),
      );
    }
    if (shape.kind !== 'each') throw new InvalidOptionError(place.path, 'a group', shape.kind);
    const { block, least } = this.#block(
      shape.step,
      this.#inside(place, { path: `${place.path}[*]` }),
    );
    const id = this.#groupId(group, place, least);
    const node: GraphNode = { kind: 'each', id, block, ...shape.group, input, after };
    return place.block.add(node, raised(least, group));
  }

  /** Compiles a step to a block of its own. */
  #block(
    step: StepDefinition,
    place: Place,
  ): { readonly block: GraphBlock; readonly least: Least | undefined } {
    const last = this.#step(step, place);
    return { block: place.block.finish(outputOf(last)), least: place.block.least };
  }

  /** The place inside a new block. */
  #inside(place: Place, { path, prefix = place.prefix }: { path: string; prefix?: string }): Place {
    const depth = place.depth + 1;
    if (depth > LIMITS.graphDepth) {
      throw new InvalidOptionError(
        this.#name,
        `at most ${LIMITS.graphDepth} levels of nesting`,
        path,
      );
    }
    const block = new BlockBuilder();
    return { ...place, block, prefix, depth, path, input: INPUT, after: NOTHING };
  }

  /** The id of a group without a name: derived from its first task, hence unique. */
  #groupId(group: PipelineDefinition, place: Place, least: Least | undefined): string {
    if (group.isNamed) {
      const id = place.prefix === '' ? group.name : place.prefix.slice(0, -1);
      return this.#claim(id, place.path);
    }
    if (least === undefined) {
      this.#emptyGroups += 1;
      return this.#claim(`~empty${this.#emptyGroups}`, place.path);
    }
    const level = least.level === 0 ? '' : String(least.level + 1);
    return this.#claim(`~group${level}.${least.id}`, place.path);
  }

  #claim(id: string, path: string): string {
    const before = this.#paths.get(id);
    if (before !== undefined) throw new DuplicateNodeError(id, [before, path]);
    if (!id.startsWith('~') && id.length > LIMITS.nameLength) {
      throw new InvalidOptionError(
        path,
        `node names of at most ${LIMITS.nameLength} characters`,
        id,
      );
    }
    this.#paths.set(id, path);
    if (this.#paths.size > LIMITS.graphNodes) {
      throw new InvalidOptionError(this.#name, `at most ${LIMITS.graphNodes} nodes`, id);
    }
    return id;
  }
}

/** The steps of a sequence and its unnamed sequences, in order. Iterative: it may be long. */
function stepsOf(sequence: PipelineDefinition): readonly StepDefinition[] {
  const steps: StepDefinition[] = [];
  const left: StepDefinition[] = [];
  open(sequence, left);
  for (let step = left.pop(); step !== undefined; step = left.pop()) {
    const isWhole = !(step instanceof PipelineDefinition) || step.isNamed || !open(step, left);
    if (isWhole) steps.push(step);
  }
  return steps;
}

/** Pushes the parts of a sequence, the first on top. @returns whether it is a sequence. */
function open({ shape }: PipelineDefinition, left: StepDefinition[]): boolean {
  if (shape.kind !== 'sequence') return false;
  if (shape.second !== undefined) left.push(shape.second);
  left.push(shape.first);
  return true;
}

function outputOf(node: string): Binding {
  return Object.freeze({ from: 'node', node });
}

function leastOf(candidates: readonly (Least | undefined)[]): Least | undefined {
  let least: Least | undefined;
  for (const one of candidates) {
    if (one !== undefined && (least === undefined || one.id < least.id)) least = one;
  }
  return least;
}

/** The same task, seen from outside the group. */
function raised(least: Least | undefined, group: PipelineDefinition): Least | undefined {
  return least === undefined || group.isNamed ? least : { id: least.id, level: least.level + 1 };
}

/** The binding with renamed nodes. */
function renamed(binding: Binding, idOf: (node: string) => string): Binding {
  switch (binding.from) {
    case 'node':
      return Object.freeze({ ...binding, node: idOf(binding.node) });
    case 'array':
      return Object.freeze({
        from: 'array',
        items: Object.freeze(binding.items.map((item) => renamed(item, idOf))),
      });
    case 'object':
      return Object.freeze({
        from: 'object',
        members: Object.freeze(
          binding.members.map(([key, part]) => Object.freeze([key, renamed(part, idOf)] as const)),
        ),
      });
    default:
      return binding;
  }
}
