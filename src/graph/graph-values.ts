/** The values of a dispatched run, built from the outcomes of its tasks. */
import { assertNever } from '../base/never.ts';
import type { EachNode, JoinPolicy, ParallelNode } from './graph.ts';
import { fill, nodesRead, readsInput } from './graph-binding.ts';
import type { FlatGraph, PlanGroup, PlanMember, PlanScope, PlanValue } from './graph-plan.ts';

/** The outcome of a node of a plan. For joins and groups only `ok` and the error are read. */
export type NodeOutcome =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly error: Error };

/** Input and outcomes of a run. */
export interface RunFacts {
  readonly input: unknown;
  /** Called only for nodes in the result of {@link PlanValues.reads}. */
  readonly outcome: (node: string) => NodeOutcome;
}

/** Builds the values of one plan, and lists what they read. Make one per plan and keep it. */
export class PlanValues {
  readonly #blocks: FlatGraph['blocks'];
  readonly #groups: ReadonlyMap<string, PlanGroup>;
  readonly #isKept: (group: PlanGroup) => boolean;

  /** For a group for which `isKept` is true its own outcome is read, not those of its members. */
  constructor(flat: FlatGraph, isKept: (group: PlanGroup) => boolean = () => false) {
    this.#isKept = isKept;
    this.#blocks = flat.blocks;
    this.#groups = new Map(
      flat.nodes.flatMap((node) => (node.kind === 'group' ? [[node.id, node]] : [])),
    );
  }

  /**
   * Builds a value: the input of a task, or the output of the run; equal to that of a driven run.
   *
   * @throws the error of a task whose output is read though it did not finish.
   * @throws {@link InvalidPayloadError} when a path leads into a value without parts.
   */
  build(value: PlanValue, facts: RunFacts): unknown {
    const { scope } = value;
    return fill(value.binding, {
      input: () => (scope === undefined ? facts.input : this.build(inputOf(scope), facts)),
      output: (node) => this.#output(node, facts),
    });
  }

  /** Nodes of the plan whose outcomes the value reads. */
  reads(value: PlanValue): readonly string[] {
    return this.#walk(value).outcomes;
  }

  /** Whether the value reads the input of the run. */
  readsInput(value: PlanValue): boolean {
    return this.#walk(value).input;
  }

  #walk(value: PlanValue): { readonly outcomes: readonly string[]; readonly input: boolean } {
    const outcomes = new Set<string>();
    let input = false;
    const seen = new Set<unknown>();
    const left: PlanValue[] = [value];
    const meet = (mark: unknown, values: readonly PlanValue[]): void => {
      if (seen.has(mark)) return;
      seen.add(mark);
      for (const one of values) left.push(one);
    };
    for (let next = left.pop(); next !== undefined; next = left.pop()) {
      const { binding, scope } = next;
      if (readsInput(binding)) {
        if (scope === undefined) input = true;
        else meet(scope, [inputOf(scope)]);
      }
      for (const node of nodesRead(binding)) {
        const block = this.#blocks.get(node);
        const group = this.#group(node);
        if (block !== undefined) meet(node, [block]);
        else if (group === undefined) outcomes.add(node);
        else {
          for (const { ends } of group.members) for (const end of ends) outcomes.add(end);
          meet(
            node,
            group.members.map((member) => member.value),
          );
        }
      }
    }
    return { outcomes: [...outcomes], input };
  }

  #output(node: string, facts: RunFacts): unknown {
    const block = this.#blocks.get(node);
    if (block !== undefined) return this.build(block, facts);
    const group = this.#group(node);
    if (group !== undefined) {
      const members = group.members.map((one) => [one.key, this.member(one, facts)] as const);
      return groupOutput(group.group, members);
    }
    const outcome = facts.outcome(node);
    if (outcome.ok) return outcome.value;
    throw outcome.error;
  }

  /** The group of this name if its value is built of the outputs of its members. */
  #group(node: string): PlanGroup | undefined {
    const group = this.#groups.get(node);
    return group === undefined || this.#isKept(group) ? undefined : group;
  }

  /** The outcome of a member of a group: it finished when all its `ends` finished. */
  member(member: PlanMember, facts: RunFacts): NodeOutcome {
    for (const end of member.ends) {
      const outcome = facts.outcome(end);
      if (!outcome.ok) return outcome;
    }
    return { ok: true, value: this.build(member.value, facts) };
  }
}

/**
 * The output of a group that finished, in either form of a run: a record, a tuple or an array;
 * members that may fail are results.
 *
 * @param outcomes - by key, in the order of the members or elements.
 * @throws the error of a member that had to finish and did not.
 */
export function groupOutput(
  group: ParallelNode | EachNode,
  outcomes: readonly (readonly [string, NodeOutcome])[],
): unknown {
  const outputs = outcomes.map(([key, outcome]) => {
    if (!mustFinish(group.policy, key)) return [key, outcome] as const;
    if (!outcome.ok) throw outcome.error;
    return [key, outcome.value] as const;
  });
  if (group.kind === 'parallel' && group.shape === 'record') return Object.fromEntries(outputs);
  // A missing output is null, as in JSON: an array cannot omit an element.
  return outputs.map(([, output]) => (output === undefined ? null : output));
}

function mustFinish(policy: JoinPolicy, key: string): boolean {
  switch (policy.kind) {
    case 'strict':
      return true;
    case 'critical':
      return policy.members.includes(key);
    case 'bestEffort':
    case 'atLeast':
    case 'registered':
      return false;
    default:
      return assertNever(policy);
  }
}

function inputOf(scope: PlanScope): PlanValue {
  return { binding: scope.input, scope: scope.outer };
}
