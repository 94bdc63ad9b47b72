import { messageOf } from '../../base/message-of.ts';
import type { Fairloom } from '../../client/client.ts';
import type { Action } from './keys.ts';

/** Does what was confirmed; answers what became of it, also when it was refused. */
export async function perform(loom: Fairloom, { verb, target }: Action): Promise<string> {
  try {
    return `${target.id} is ${await act(loom, { verb, target })}`;
  } catch (error) {
    return `${verb}: ${messageOf(error)}`;
  }
}

async function act(loom: Fairloom, { verb, target }: Action): Promise<string> {
  const { tab, id, queue } = target;
  switch (verb) {
    case 'cancel': {
      if (tab === 'runs') await loom.runs.cancel(id);
      else {
        const reply = await loom.tasks.cancel(id);
        if (reply.kind === 'already-ended') return `${reply.state} already`;
        if (reply.kind === 'not-found') return 'gone';
        if (reply.kind === 'requested') return 'asked to stop';
      }
      return 'canceled';
    }
    case 'redrive':
      await loom.tasks.redrive(id);
      return 'put back';
    case 'pause':
      if (tab === 'runs') await loom.runs.pause(id);
      else await loom.users.pause(id, { queue });
      return 'paused';
    case 'resume':
      if (tab === 'runs') await loom.runs.resume(id);
      else await loom.users.resume(id, { queue });
      return 'resumed';
  }
}
