/** One question, open or closed. */
import type { VNode } from 'preact';
import { source } from '../../api/sources.ts';
import { Shown } from '../../parts/shown.tsx';
import { useReading } from '../../state/readings.ts';
import { AskPanel } from './asks-screen.tsx';

/** By its id. */
export function AskScreen({ id }: { readonly id: string }): VNode {
  const reading = useReading(source('GET /asks/{id}', [id]));
  return (
    <Shown reading={reading} what="this question">
      {(ask) => <AskPanel ask={ask} />}
    </Shown>
  );
}
