/** Tasks and looks at graphs that the tests of workflows share. */
import { createHash } from 'node:crypto';
import { allNodes, type GraphNode, type TaskGraph } from '../../src/graph/graph.ts';
import { flatten, type PlanNode } from '../../src/graph/graph-plan.ts';
import { graphText } from '../../src/graph/graph-text.ts';
import { compile } from '../../src/workflow/compile.ts';
import type { Task } from '../../src/workflow/step.ts';
import { task } from '../../src/workflow/task-definition.ts';

/** A task that gives what it gets. */
export function step(name: string): Task<unknown, unknown> {
  return task(name, async (input: unknown) => input);
}

export const [a, b, c, d] = [step('a'), step('b'), step('c'), step('d')];

/** What the engine stores a graph under. */
export function hashOf(graph: TaskGraph): string {
  return createHash('sha256').update(graphText(graph)).digest('hex');
}

/** The text of a step's graph, whose equality is that of graphs; without its name. */
export function shapeOf(drawn: unknown): string {
  return graphText({ ...compile(drawn), name: 'x' });
}

export function nodeOf(graph: TaskGraph, id: string): GraphNode {
  const found = [...allNodes(graph)].find((node) => node.id === id);
  if (found === undefined) throw new Error(`no node ${id}`);
  return found;
}

/** Nodes of a flat graph that no group or join stands between: what each task comes after. */
export function tasksBefore(nodes: readonly PlanNode[]): ReadonlyMap<string, ReadonlySet<string>> {
  const before = new Map<string, Set<string>>();
  for (const node of nodes) {
    const all = new Set<string>();
    for (const id of node.dependsOn) {
      const known = before.get(id);
      if (known === undefined) throw new Error(`${node.id} stands before ${id}`);
      for (const one of known) all.add(one);
      all.add(id);
    }
    before.set(node.id, all);
  }
  const tasks = new Set(nodes.filter(({ kind }) => kind === 'task').map(({ id }) => id));
  return new Map(
    [...before]
      .filter(([id]) => tasks.has(id))
      .map(([id, all]) => [id, new Set([...all].filter((one) => tasks.has(one)))]),
  );
}

/** `a<b` for every task a that ends before task b starts, sorted. */
export function orderOf(drawn: unknown): readonly string[] {
  return [...tasksBefore(flatten(compile(drawn)).nodes)]
    .flatMap(([id, before]) => [...before].map((one) => `${one}<${id}`))
    .sort();
}
