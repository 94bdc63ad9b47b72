/** The code that nodes of a graph need. */
import { versionedName } from '../domain/task/task-name.ts';
import { allNodes, type GraphBlock, type TaskNode } from './graph.ts';

/** Versions as set by the enqueue of a run. */
export interface VersionOverrides {
  /** No version is kept: each node runs with the newest. */
  readonly latest?: true;
}

/** The name of a node's code: with its version, if the node keeps it. */
export function codeOfNode(
  { task, version, versioning }: Pick<TaskNode, 'task' | 'version' | 'versioning'>,
  overrides: VersionOverrides | undefined,
): string {
  const isKept = versioning === undefined && overrides?.latest !== true;
  return versionedName(task, isKept ? version : undefined);
}

/** The versioned code that nodes of a block keep, each once, in order of the nodes. */
export function codeKept(
  block: GraphBlock,
  overrides: VersionOverrides | undefined,
): ReadonlySet<string> {
  const kept = new Set<string>();
  if (overrides?.latest === true) return kept;
  for (const node of allNodes(block)) {
    if (node.kind !== 'task' || node.version === undefined) continue;
    if (node.versioning === undefined) kept.add(codeOfNode(node, overrides));
  }
  return kept;
}
