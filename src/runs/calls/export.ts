/** Exports a run as JSON, to store it or to continue it elsewhere. */
import { TaskNotFoundError } from '../../domain/errors/errors.ts';
import { type Seed, storedOptionsOf } from '../record.ts';
import { type ExportedNode, type RunExport, runVersion } from './run-format.ts';
import { RunView, type ViewParts } from './run-view.ts';

/**
 * The current state of a run; of one that continues, each node at some moment of the export.
 *
 * @throws {@link TaskNotFoundError} when it is not stored; {@link GraphStoreError}.
 */
export async function exportRun(parts: ViewParts, id: string): Promise<RunExport> {
  const view = await RunView.find(parts, id);
  if (view === undefined) throw new TaskNotFoundError(id);
  const { root, place, form } = view;
  const { graph, content } = await view.known();
  const { input, edits } = view.given;
  // The journal is read after the states of the nodes, so it is never older than they are.
  const seed: Partial<Seed> = form === 'driven' ? await view.seed() : await view.shared();
  const { fields, channels } = seed;
  return {
    format: 'fairloom-run',
    version: runVersion(graph, edits),
    id,
    name: place.name ?? graph.name,
    form,
    state: root.state,
    user: root.user,
    said: place.said ?? {},
    options: storedOptionsOf(root.options),
    graphHash: content,
    graph,
    ...(input === undefined ? {} : { input: parts.codec.payload(graph.name, input) }),
    ...(edits === undefined ? {} : { edits }),
    nodes: await nodesOf(view),
    ...(fields === undefined ? {} : { journal: fields }),
    ...(channels === undefined ? {} : { channels }),
  };
}

/** Strict groups have no value of their own: it is built of the outputs of their members. */
async function nodesOf(view: RunView): Promise<readonly ExportedNode[]> {
  const nodes = await view.nodes();
  if (view.form === 'driven') return nodes.map(({ node, state }) => ({ node, state }));
  const { dispatch } = await view.known();
  const records = await view.records();
  return nodes.map(({ node, state }): ExportedNode => {
    const record = records.get(node);
    const isShown = record?.state === 'finished' && dispatch.byId.get(node)?.kind !== 'join';
    return isShown ? { node, state, result: record.result ?? '' } : { node, state };
  });
}
