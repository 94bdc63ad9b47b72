/** A scheduler that kills itself at a chosen step: SIGKILL, so that nothing is said or cleaned up. */
import { Fairloom } from '../../dist/index.js';
import { redis } from '../../dist/redis.js';

const { url, prefix, id, death } = JSON.parse(process.argv[2] ?? '{}');
const backend = redis(url, { prefix });
let calls = 0;

/** Dies before the call is sent, or once its answer is here. */
function mortal(operation, call) {
  return async (request) => {
    const isLast = death?.operation === operation && ++calls === death.count;
    if (isLast && death.when === 'before') process.kill(process.pid, 'SIGKILL');
    const answer = call(request);
    // The request has left the process, the answer has not arrived.
    if (isLast && death.when === 'sent') setImmediate(() => process.kill(process.pid, 'SIGKILL'));
    const reply = await answer;
    if (isLast && death.when === 'after') process.kill(process.pid, 'SIGKILL');
    return reply;
  };
}

const { schedules } = backend;
for (const operation of ['due', 'fire']) {
  schedules[operation] = mortal(operation, schedules[operation].bind(schedules));
}
const loom = new Fairloom({ backend });
await loom.scheduler({ id }).start();
process.stdout.write('ready\n');
