/** The route of the server that finds tasks. */
import type { ReadAnswers } from '../../api/routes.generated.ts';
import { source } from '../../api/sources.ts';
import type { Source } from '../../state/readings.ts';
import { has } from '../../state/session.ts';
import { wordsOf } from '../../words/where.ts';

/** Tasks that match, or all. */
export function tasksWhere(where: string): Source<ReadAnswers['GET /tasks']> {
  if (has('search')) return source('GET /tasks', [], { where });
  const words = new Map(wordsOf(where).map((word) => [word.split(':')[0], word.split(':')[1]]));
  return source('GET /tasks', [], {
    state: words.get('state') ?? 'failed',
    user: words.get('user'),
    queue: words.get('queue'),
    name: words.get('name'),
  });
}
