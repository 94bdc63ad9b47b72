/**
 * The program of a process. Only its worker ends it: signals that the system sends to all processes of a
 * service are ignored here. When the worker has exited, the process ends within a second, even if its code is
 * busy: one of its threads watches its parent.
 */
import { errorFrom } from '../../base/thrown.ts';
import type { HostAbort, HostMessage, HostRequest } from '../host-messages.ts';
import { answer } from './answer.ts';

let controller: AbortController | undefined;

function post(message: HostMessage): void {
  if (process.connected) process.send?.(message);
}

function contextOf(request: HostRequest): object {
  controller = undefined;
  return Object.defineProperty({ ...request.ctx }, 'signal', {
    get() {
      if (controller === undefined) post({ kind: 'watching' });
      controller ??= new AbortController();
      return controller.signal;
    },
  });
}

process.on('message', (message: HostAbort | HostRequest) => {
  if (message.kind === 'abort') controller?.abort(errorFrom(message.reason));
  else void answer(message, contextOf(message), post);
});
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => undefined);

/** Checks each second whether the parent is still the process that started this one. */
const WATCH = `
const { workerData } = process.getBuiltinModule('node:worker_threads');
setInterval(() => process.ppid === workerData || process.kill(process.pid, 'SIGKILL'), 1000);
`;
const { Worker } = process.getBuiltinModule('node:worker_threads');
new Worker(WATCH, { eval: true, execArgv: [], workerData: Number(process.argv.at(-1)) }).unref();
