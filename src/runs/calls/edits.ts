/** Another input for one node of a run: which nodes take one, and what becomes of it in a rerun. */
import type { ValueCodec } from '../../codec/codec.ts';
import { InvalidOptionError } from '../../domain/errors/errors.ts';
import { isNamed } from '../../domain/task/node-name.ts';
import { allNodes, type GraphBlock, type TaskGraph, type TaskNode } from '../../graph/graph.ts';
import { begun, idsIn } from '../../graph/graph-start.ts';
import { codeOfNode } from '../../graph/node-code.ts';
import { invalidPayload, type StandardSchemaV1, validate } from '../../workflow/standard-schema.ts';
import type { KnownGraph } from '../known-graph.ts';
import { type Edits, editOf, type SaidPlace } from '../record.ts';
import type { RunForm } from '../run-options.ts';

/** What checking an input needs of its client. */
export interface EditTools {
  readonly codec: ValueCodec;
  /** What inputs of a task must be, if that is known here; its name with the version that it keeps. */
  readonly schemaOf: (code: string) => StandardSchemaV1 | undefined;
}

/**
 * The node that gets another input.
 *
 * @throws {@link InvalidOptionError} when it is not there, or is no task outside of groups.
 */
export function nodeToEdit(graph: TaskGraph, option: 'from' | 'node', id: string): TaskNode {
  const runs = begun(graph);
  const node = tasksIn(runs).find((one) => one.id === id);
  if (node !== undefined) return node;
  const isThere = [...allNodes(runs)].some((one) => one.id === id);
  const wanted = isThere ? 'a task outside of groups: only such a one takes an input' : undefined;
  throw new InvalidOptionError(option, wanted ?? `a node of ${graph.name} that runs`, id);
}

/** The id of the node that a caller names; what it gave when there is none. */
export function nodeIdIn(graph: TaskGraph, given: string): string {
  return [...allNodes(graph)].find(({ id }) => isNamed(id, given))?.id ?? given;
}

/** The tasks of a block that one walk comes to. */
function tasksIn(block: GraphBlock): readonly TaskNode[] {
  return block.nodes.flatMap((node): readonly TaskNode[] => {
    if (node.kind === 'task') return [node];
    return node.kind === 'block' ? tasksIn(node.block) : [];
  });
}

/**
 * An input as it is stored.
 *
 * @throws `InvalidPayloadError` when it cannot be stored, or its schema refuses it.
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

/** By what the edit of a node is known, at its first visit. */
export function editKey(form: RunForm, node: string): string {
  return form === 'driven' ? `${node}#1` : node;
}

/** Whether a node was given just this input. */
export function hasEdit(edits: Edits | undefined, node: string, text: string): boolean {
  if (editOf(edits, node) === text) return true;
  const start = `${node}#`;
  return Object.entries(edits ?? {}).some(([key, one]) => key.startsWith(start) && one === text);
}

/**
 * The edits that a rerun takes over: an edited input stays with its node, but for those that follow
 * `from`, which get what the nodes before them give now.
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
    // A later visit comes after the first one, and so may any node that runs again.
    return !again.has(key.slice(0, hash)) && (form === 'dispatched' || key.endsWith('#1'));
  });
  return Object.fromEntries(kept);
}

/**
 * The ids of a node, of all inside of it, and of everything that follows it.
 *
 * @throws {@link InvalidOptionError} when no such node runs.
 */
export function nodesFrom(known: KnownGraph, form: RunForm, from: string): ReadonlySet<string> {
  const { graph } = known;
  const start = [...allNodes(begun(graph))].find(({ id }) => id === from);
  if (start === undefined) {
    throw new InvalidOptionError('from', `a node of ${graph.name} that runs`, from);
  }
  const again = idsIn(start);
  // Tasks stand after those that they wait for, so one pass finds all that follow.
  const tasks = form === 'driven' ? known.flat.nodes : known.dispatch.tasks;
  for (const { id, dependsOn } of tasks) if (dependsOn.some((one) => again.has(one))) again.add(id);
  return again;
}
