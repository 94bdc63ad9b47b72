import type { GroupPolicy } from './group-policy.ts';
import { demandStep, PipelineDefinition, type StepDefinition } from './pipeline-definition.ts';
import { definitionOf, type TaskDefinition } from './task-definition.ts';

/** Definitions that a process needs to run every node of a step. */
export interface StepParts {
  /** One per `codeName`; a definition with code is preferred to one whose code is elsewhere. */
  readonly tasks: readonly TaskDefinition[];
  /** One per name. */
  readonly policies: readonly GroupPolicy[];
}

/**
 * The definitions that a step contains, in order of occurrence.
 *
 * @throws {@link InvalidOptionError} when the value is not a step.
 */
export function partsOf(step: unknown): StepParts {
  const tasks = new Map<string, TaskDefinition>();
  const policies = new Map<string, GroupPolicy>();
  const seen = new Map<string | undefined, Set<StepDefinition>>();
  const left: Part[] = [{ step: demandStep('step', step), version: undefined }];
  for (let part = left.pop(); part !== undefined; part = left.pop()) {
    const { step: next } = part;
    const known = seen.get(part.version) ?? new Set();
    if (known.has(next)) continue;
    seen.set(part.version, known.add(next));
    if (next instanceof PipelineDefinition) {
      const { version = part.version } = next;
      for (const inner of insideOf(next).toReversed()) left.push({ step: inner, version });
      const { shape } = next;
      const policy = 'policy' in shape ? shape.policy : undefined;
      if (policy !== undefined) policies.set(policy.name, policy);
      continue;
    }
    const task = definitionOf(next).within(part.version);
    const before = tasks.get(task.codeName);
    if (before === undefined || before.code.kind === 'elsewhere') tasks.set(task.codeName, task);
  }
  return { tasks: [...tasks.values()], policies: [...policies.values()] };
}

/** A step, and the version of its enclosing pipelines. */
interface Part {
  readonly step: StepDefinition;
  readonly version: string | undefined;
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
