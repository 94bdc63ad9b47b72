/** The span of one visit of a group under one lease of its run. */
import { causeText } from '../../domain/task/cause.ts';
import type { StepOutcome, WalkStep } from '../../graph/run-walk.ts';
import type { PartRequest, Trace } from '../../tracing/trace.ts';
import type { SpanEnd } from '../../tracing/tracer.ts';
import { partSpan } from '../../tracing/work.ts';
import type { GroupMove } from './group-drive.ts';

/** Its parent is the lease that stores the members; later leases collect the results. */
export function groupSpan(
  { node, members }: WalkStep & { readonly type: 'group' },
  runId: string,
): PartRequest {
  const attributes = { 'messaging.batch.message_count': members.length };
  return partSpan({ kind: 'group', name: node.id, runId, attributes });
}

/** Ends the span with the outcome of the visit, also when it is interrupted. */
export async function tracedGroup(
  trace: Trace,
  visit: () => Promise<GroupMove>,
): Promise<GroupMove> {
  try {
    const move = await visit();
    trace.end(move.type === 'outcome' ? endOf(move.outcome) : { outcome: 'suspended' });
    return move;
  } catch (error) {
    trace.end({ outcome: 'failed', error });
    throw error;
  }
}

/** The outcome of a group. */
export function endOf(outcome: StepOutcome): SpanEnd {
  if (outcome.type === 'failed') return { outcome: 'failed', error: outcome.error };
  if (outcome.type !== 'canceled') return { outcome: 'finished' };
  return { outcome: 'canceled', attributes: { 'fairloom.reason': causeText(outcome.cause) } };
}
