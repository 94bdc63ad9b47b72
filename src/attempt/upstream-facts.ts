import type { Backend, Leased, UpstreamFact } from '../domain/port/backend.ts';
import { runPlaceOf } from '../runs/shared/record.ts';

/** Upstream results that one task is given at most, in UTF-16 units (64 Mi): they are all in memory. */
const UPSTREAM_UNITS = 67_108_864;

/** Fetches what did not fit into a lease; `undefined` when it is too much for one task. */
export async function wholeUpstreams(
  backend: Backend,
  upstreams: readonly UpstreamFact[],
): Promise<readonly UpstreamFact[] | undefined> {
  const facts: UpstreamFact[] = [];
  let units = 0;
  for (const fact of upstreams) {
    const full = fact.cut ? await fetched(backend, fact) : fact;
    units += full.result?.length ?? 0;
    if (units > UPSTREAM_UNITS) return undefined;
    facts.push(full);
  }
  return facts;
}

async function fetched(backend: Backend, fact: UpstreamFact): Promise<UpstreamFact> {
  const [record] = await backend.inspect.get([fact.id]);
  const whole = { id: fact.id, name: fact.name, cut: false };
  if (record === undefined) return { ...whole, state: 'missing' };
  const { result, error } = record;
  return {
    ...whole,
    state: fact.state,
    ...(result === undefined ? {} : { result }),
    ...(error === undefined ? {} : { error }),
  };
}

/** What a handler may read of those that its task waited for. */
export function ownUpstreams({ upstreams, options }: Leased): readonly UpstreamFact[] {
  // A member of a group waits for its turn, not for what the one before it gave.
  const isInChain = upstreams.length > 0 && runPlaceOf(options)?.node.includes('/') === true;
  return isInChain ? NO_UPSTREAMS : upstreams;
}

const NO_UPSTREAMS: readonly UpstreamFact[] = [];
