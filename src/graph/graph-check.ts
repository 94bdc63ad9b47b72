/** Invariants of every graph, of any origin. */

import {
  DependencyCycleError,
  DuplicateNodeError,
  InvalidOptionError,
} from '../domain/errors/errors.ts';
import { checkId, checkName } from '../domain/fairness/names.ts';
import { LIMITS } from '../domain/limits.ts';
import { findCycle } from '../domain/task/dependency-cycle.ts';
import { shownNode } from '../domain/task/node-name.ts';
import { blocksOf, dependenciesOf, type GraphBlock, type TaskGraph } from './graph.ts';
import { nodesRead } from './graph-binding.ts';

/**
 * Checks a graph that was built or read: ids are unique, nodes depend only on nodes of the same
 * block, and no node waits for itself.
 *
 * @throws {@link DuplicateNodeError} with the paths of both nodes.
 * @throws {@link DependencyCycleError} with the ids along the cycle.
 * @throws {@link InvalidOptionError} when a name or a reference is invalid.
 */
export function checkGraph(graph: TaskGraph): void {
  checkName('graph', graph.name);
  const places = new Map<string, string>();
  const left: Place[] = [{ block: graph, path: graph.name, depth: 0 }];
  for (let place = left.pop(); place !== undefined; place = left.pop()) {
    checkBlock(place, places);
    for (const node of place.block.nodes) {
      for (const [word, block] of blocksOf(node)) {
        const path = `${place.path}/${shownNode(node.id)}${word}`;
        left.push({ block, path, depth: place.depth + 1 });
      }
    }
  }
}

interface Place {
  readonly block: GraphBlock;
  readonly path: string;
  readonly depth: number;
}

function checkBlock({ block, path, depth }: Place, places: Map<string, string>): void {
  if (depth > LIMITS.graphDepth) {
    throw new InvalidOptionError(path, `at most ${LIMITS.graphDepth} levels of nesting`, depth);
  }
  const here = new Set<string>();
  for (const node of block.nodes) {
    const before = places.get(node.id);
    if (before !== undefined) throw new DuplicateNodeError(node.id, [before, path]);
    // Ids of groups without a name begin with `~`, which no caller can use.
    if (!node.id.startsWith('~')) checkName(`${path}: node`, node.id);
    else checkId(`${path}: node`, node.id);
    if (node.kind === 'task') {
      checkName(`${path}: task of ${shownNode(node.id)}`, node.task);
      if (node.version !== undefined)
        checkName(`${path}: version of ${shownNode(node.id)}`, node.version);
    }
    places.set(node.id, path);
    here.add(node.id);
  }
  if (places.size > LIMITS.graphNodes) {
    throw new InvalidOptionError(path, `at most ${LIMITS.graphNodes} nodes`, places.size);
  }
  const waits = block.nodes.map((node) => ({ id: node.id, dependsOn: dependenciesOf(node) }));
  for (const { id, dependsOn } of waits) {
    const outside = dependsOn.find((one) => !here.has(one));
    if (outside !== undefined) {
      throw new InvalidOptionError(`${path}: ${shownNode(id)}`, 'nodes of the same block', outside);
    }
  }
  const outside = nodesRead(block.output).find((one) => !here.has(one));
  if (outside !== undefined) {
    throw new InvalidOptionError(`${path}: output`, 'nodes of the same block', outside);
  }
  const cycle = findCycle(waits);
  if (cycle !== undefined) throw new DependencyCycleError(cycle);
}
