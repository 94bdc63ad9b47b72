/** Resumes a failed run with another input for the node that failed. */
import { InvalidOptionError, WrongStateError } from '../../domain/errors/errors.ts';
import { checkOptions, keysOf, type OptionKeys } from '../../domain/errors/options.ts';
import { shownNode } from '../../domain/task/node-name.ts';
import type { TaskNode } from '../../graph/graph.ts';
import { runPayload, runPlaceOf } from '../record.ts';
import { nodeInfo } from '../run-info.ts';
import { hasEdit, inputText, nodeToEdit } from './edits.ts';
import { demandOpen, putBackRun, resume } from './resume.ts';
import type { RunTools } from './run-submission.ts';
import { RunView } from './run-view.ts';

/** Options of a resume. */
export interface RunResumeOptions {
  /** Name of a failed node in the graph: a task outside groups. */
  readonly node?: string | undefined;
  /** New input of `node`. A present option counts even if it is `undefined`. */
  readonly input?: unknown;
}

const KEYS: OptionKeys<RunResumeOptions> = keysOf<RunResumeOptions>()({ node: true, input: true });

/** @throws see `Runs.resume`. */
export async function resumeRun(
  tools: RunTools,
  id: string,
  options: RunResumeOptions,
): Promise<void> {
  checkOptions('runs.resume', options, KEYS);
  const { node, input } = options;
  const isEdited = Object.hasOwn(options, 'input');
  if (node === undefined && !isEdited) return resume(tools.handles, id);
  if (typeof node !== 'string') {
    throw new InvalidOptionError('node', 'the name of the node that gets the input', node);
  }
  if (!isEdited) throw new InvalidOptionError('input', 'an input for the node', undefined);
  const { handles, schemaOf } = tools;
  const { codec } = handles;
  const view = await RunView.demand(handles, id);
  const { root, given, place } = view;
  demandOpen(root);
  if (root.state !== 'failed') {
    // An earlier call has resumed it, but may have stopped halfway.
    if (hasEdit(given.edits, node, codec.payload(node, input))) return putBackRun(handles, view);
    throw new WrongStateError('resume', id, root.state);
  }
  const { key, task } = await failedNode(view, node);
  const text = await inputText({ codec, schemaOf }, task, { input, said: place.said });
  const edits = { ...given.edits, [key]: text };
  const payload = runPayload(codec, { ...given, edits });
  return putBackRun(handles, view, { payload });
}

/** The node that failed, and the key of its edit. */
async function failedNode(
  view: RunView,
  id: string,
): Promise<{ readonly key: string; readonly task: TaskNode }> {
  const { graph } = await view.known();
  if (view.form === 'driven') {
    const next = await view.next();
    // The node may belong to a graph that a handler returned.
    if (next.type === 'task' && next.node.id === id) {
      return { key: `${id}#${next.visit}`, task: next.node };
    }
    nodeToEdit(graph, 'node', id);
    const failed = next.type === 'end' ? 'its end' : shownNode(next.node.id);
    throw new InvalidOptionError('node', `the node at which the run failed, ${failed}`, id);
  }
  const task = nodeToEdit(graph, 'node', id);
  const record = (await view.recordsOf([id])).get(id);
  const isOwn = record !== undefined && runPlaceOf(record.options)?.id === view.root.id;
  // A node that never started because another one failed is shown as skipped.
  if (isOwn && nodeInfo(id, record).state === 'failed') return { key: id, task };
  throw new InvalidOptionError('node', 'a failed node of the run', id);
}
