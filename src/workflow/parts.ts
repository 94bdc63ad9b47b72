import type { GroupPolicy } from './group-policy.ts';
import { demandStep, PipelineDefinition, type StepDefinition } from './pipeline-definition.ts';
import { definitionOf, type TaskDefinition } from './task-definition.ts';

/** What a process needs to run every node of a step. */
export interface StepParts {
  /** One per `taskName`; one with code here before one whose code is elsewhere. */
  readonly tasks: readonly TaskDefinition[];
  /** One per name. */
  readonly policies: readonly GroupPolicy[];
}

/**
 * The definitions that a step is made of, in the order in which they are met.
 *
 * @throws {@link InvalidOptionError} when the value is no step.
 */
export function partsOf(step: unknown): StepParts {
  const tasks = new Map<string, TaskDefinition>();
  const policies = new Map<string, GroupPolicy>();
  const seen = new Set<StepDefinition>();
  const left: StepDefinition[] = [demandStep('step', step)];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    if (seen.has(next)) continue;
    seen.add(next);
    if (next instanceof PipelineDefinition) {
      for (const part of insideOf(next).toReversed()) left.push(part);
      const { shape } = next;
      const policy = 'policy' in shape ? shape.policy : undefined;
      if (policy !== undefined) policies.set(policy.name, policy);
      continue;
    }
    const task = definitionOf(next);
    const known = tasks.get(task.taskName);
    if (known === undefined || known.code.kind === 'elsewhere') tasks.set(task.taskName, task);
  }
  return { tasks: [...tasks.values()], policies: [...policies.values()] };
}

function insideOf({ shape }: PipelineDefinition): readonly StepDefinition[] {
  switch (shape.kind) {
    case 'sequence':
      return shape.second === undefined ? [shape.first] : [shape.first, shape.second];
    case 'parallel':
      return shape.members.map(([, step]) => step);
    case 'each':
      return [shape.step];
    case 'flow':
      return shape.steps.map(({ step }) => step);
  }
}
