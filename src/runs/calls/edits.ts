/** Edited inputs: which nodes of a run accept one, and which of them a rerun keeps. */
import type { ValueCodec } from '../../codec/codec.ts';
import { InvalidOptionError } from '../../domain/errors/errors.ts';
import { isNamed } from '../../domain/task/node-name.ts';
import { allNodes, type GraphBlock, type TaskGraph, type TaskNode } from '../../graph/graph.ts';
import { executedGraph, idsIn } from '../../graph/graph-start.ts';
import { codeOfNode } from '../../graph/node-code.ts';
import { invalidPayload, type StandardSchemaV1, validate } from '../../workflow/standard-schema.ts';
import type { KnownGraph } from '../known-graph.ts';
import { type Edits, editOf, type SaidPlace } from '../record.ts';
import type { RunForm } from '../run-options.ts';

/** Parts of the client that check an input. */
export interface EditTools {
  readonly codec: ValueCodec;
  /** The input schema of a task, if it is known here; by its name with the version that it keeps. */
  readonly schemaOf: (code: string) => StandardSchemaV1 | undefined;
}

/**
 * The node that gets another input.
 *
 * @throws {@link InvalidOptionError} when it does not exist, or is not a task outside groups.
 */
export function nodeToEdit(graph: TaskGraph, option: 'from' | 'node', id: string): TaskNode {
  const runs = executedGraph(graph);
  const node = tasksIn(runs).find((one) => one.id === id);
  if (node !== undefined) return node;
  const isThere = [...allNodes(runs)].some((one) => one.id === id);
  const wanted = isThere ? 'a task outside groups; other nodes accept no input' : undefined;
  throw new InvalidOptionError(option, wanted ?? `a node of ${graph.name} that runs`, id);
}

/** The id of the node with the given name; the name itself when there is none. */
export function nodeIdIn(graph: TaskGraph, given: string): string {
  return [...allNodes(graph)].find(({ id }) => isNamed(id, given))?.id ?? given;
}

/** The tasks of a block outside groups. */
function tasksIn(block: GraphBlock): readonly TaskNode[] {
  return block.nodes.flatMap((node): readonly TaskNode[] => {
    if (node.kind === 'task') return [node];
    return node.kind === 'block' ? tasksIn(node.block) : [];
  });
}

/**
 * An input as it is stored.
 *
 * @throws `InvalidPayloadError` when JSON would change it, or its schema refuses it.
 */
export async function inputText(
  { codec, schemaOf }: EditTools,
  node: TaskNode,
  { input, said }: { readonly input: unknown; readonly said: SaidPlace | undefined },
): Promise<string> {
  const text = codec.payload(node.id, input);
  const schema = schemaOf(codeOfNode(node, said));
  const result = schema === undefined ? undefined : await validate(schema, input);
  if (result !== undefined && !result.ok) throw invalidPayload(result);
  return text;
}

/** The key of a node's edit at the first visit of the node. */
export function editKey(form: RunForm, node: string): string {
  return form === 'driven' ? `${node}#1` : node;
}

/** Whether the node has exactly this edited input. */
export function hasEdit(edits: Edits | undefined, node: string, text: string): boolean {
  if (editOf(edits, node) === text) return true;
  const start = `${node}#`;
  return Object.entries(edits ?? {}).some(([key, one]) => key.startsWith(start) && one === text);
}

/**
 * The edits that a rerun keeps: an edited input stays with its node, except for nodes that follow
 * `from`, which get the new outputs.
 */
export function editsFrom(
  edits: Edits | undefined,
  form: RunForm,
  again: ReadonlySet<string>,
  from: string | undefined,
): Edits {
  if (from === undefined) return edits ?? {};
  const kept = Object.entries(edits ?? {}).filter(([key]) => {
    if (key === editKey(form, from)) return true;
    const hash = form === 'driven' ? key.lastIndexOf('#') : key.length;
    // Later visits of any node may depend on `from`, so their edits are dropped.
    return !again.has(key.slice(0, hash)) && (form === 'dispatched' || key.endsWith('#1'));
  });
  return Object.fromEntries(kept);
}

/**
 * The ids of a node, of all nodes inside it, and of all nodes that follow it.
 *
 * @throws {@link InvalidOptionError} when the run has no such node.
 */
export function nodesFrom(known: KnownGraph, form: RunForm, from: string): ReadonlySet<string> {
  const { graph } = known;
  const start = [...allNodes(executedGraph(graph))].find(({ id }) => id === from);
  if (start === undefined) {
    throw new InvalidOptionError('from', `a node of ${graph.name} that runs`, from);
  }
  const again = idsIn(start);
  // Tasks are ordered by dependency, so one pass finds all that follow.
  const tasks = form === 'driven' ? known.flat.nodes : known.dispatch.tasks;
  for (const { id, dependsOn } of tasks) if (dependsOn.some((one) => again.has(one))) again.add(id);
  return again;
}
