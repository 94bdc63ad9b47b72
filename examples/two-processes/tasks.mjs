// The web server and the workers share the task and the data folder.
import { setTimeout as pause } from 'node:timers/promises';
import { task } from 'fairloom';
import { file } from 'fairloom/file';

/** One process owns the folder and the others go through it; if it dies, another takes over. */
export const backend = () => file(process.env.DATA_FOLDER ?? './data');

/** Stands for work that takes a while. It may run more than once, so it only returns its result. */
export const thumbnail = task(
  'thumbnail',
  { retries: 3, timeout: '30s' },
  async (/** @type {{ image: string }} */ { image }, ctx) => {
    await pause(Number(process.env.WORK_MS ?? 300), undefined, { signal: ctx.signal });
    return { user: ctx.user, image, file: `${image}-small.png` };
  },
);
