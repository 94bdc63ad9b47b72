/** The program of a thread. */
import type { HostRequest } from '../host-messages.ts';
import { answer } from './answer.ts';

const { parentPort } = process.getBuiltinModule('node:worker_threads');

parentPort?.on('message', (request: HostRequest) => {
  void answer(request, { ...request.ctx }, (message) => parentPort.postMessage(message));
});
