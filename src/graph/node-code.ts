/** Which code the nodes of a graph need. */
import { versionedName } from '../domain/task/task-name.ts';
import { allNodes, type GraphBlock, type TaskNode } from './graph.ts';

/** What a run was told about the versions of its nodes. */
export interface SaidVersions {
  /** None is kept: each node goes on with the newest. */
  readonly latest?: true;
}

/** The name of a node's code: with its version, if it keeps that. */
export function codeOfNode(
  { task, version, versioning }: Pick<TaskNode, 'task' | 'version' | 'versioning'>,
  said: SaidVersions | undefined,
): string {
  const isKept = versioning === undefined && said?.latest !== true;
  return versionedName(task, isKept ? version : undefined);
}

/** The code with a version that nodes of a block keep, each once; the first of the block first. */
export function codeKept(block: GraphBlock, said: SaidVersions | undefined): ReadonlySet<string> {
  const kept = new Set<string>();
  if (said?.latest === true) return kept;
  for (const node of allNodes(block)) {
    if (node.kind !== 'task' || node.version === undefined) continue;
    if (node.versioning === undefined) kept.add(codeOfNode(node, said));
  }
  return kept;
}
