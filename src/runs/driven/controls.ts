/** Outcomes of nodes as data that is stored in the journal. */

import type { ValueCodec } from '../../codec/codec.ts';
import { InvalidOptionError } from '../../domain/errors/errors.ts';
import type { TaskGraph } from '../../graph/graph.ts';
import type { StepOutcome } from '../../graph/run-walk.ts';
import { compile } from '../../workflow/compile.ts';
import { type Control, control as kindOf } from '../../workflow/control.ts';
import { PipelineDefinition, type StepDefinition } from '../../workflow/pipeline-definition.ts';

/** An output or a control. Values are texts of the codec. */
export type NodeRecord =
  | { readonly kind: 'output' | 'terminate' | 'again'; readonly text: string }
  | { readonly kind: 'next'; readonly text: string; readonly graph: TaskGraph }
  | {
      readonly kind: 'goto';
      readonly text: string;
      readonly graph: TaskGraph;
      readonly target: string;
    };

/**
 * A control as data.
 *
 * @throws {@link InvalidPayloadError} when JSON would change its input.
 */
export function recordOf(codec: ValueCodec, node: string, control: Control): NodeRecord {
  switch (control[kindOf]) {
    case 'terminate':
      return { kind: 'terminate', text: codec.result(node, control.value) };
    case 'again':
      return { kind: 'again', text: codec.payload(node, control.input) };
    case 'next':
    case 'goto': {
      const { step, input } = control;
      const graph = compile(step);
      const text = codec.payload(step.name, input);
      if (control[kindOf] === 'next') return { kind: 'next', text, graph };
      return { kind: 'goto', text, graph, target: targetOf(step) };
    }
    default:
      throw new InvalidOptionError(
        node,
        'the result of ctx.next, goto, again or terminate',
        control,
      );
  }
}

/** The outcome for the walk that a record contains. */
export function outcomeOf(codec: ValueCodec, record: NodeRecord): StepOutcome {
  const value = codec.read(record.text);
  switch (record.kind) {
    case 'output':
      return { type: 'output', value };
    case 'terminate':
      return { type: 'terminate', value };
    case 'again':
      return { type: 'again', input: value };
    case 'next':
      return { type: 'next', graph: record.graph, input: value };
    case 'goto':
      return { type: 'goto', graph: record.graph, target: record.target, input: value };
  }
}

/** The name that a `goto` looks for; a pipeline with a derived name is in no graph under it. */
function targetOf(step: StepDefinition): string {
  return step instanceof PipelineDefinition && !step.isNamed ? '' : step.name;
}
