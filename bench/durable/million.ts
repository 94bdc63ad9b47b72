/** A folder with many waiting tasks: its size on the disk, and the time to open it. */
import { readdirSync, statSync } from 'node:fs';
import type { Figures } from '../kit/bench.ts';
import { loadFairloom, loadFairloomFile } from '../kit/fairloom-package.ts';
import type { Payload } from '../kit/payload.ts';
import { ERRORS, JOB } from '../sides/fairloom.ts';

const USERS = 1_000;
const BATCH = 1_000;

/** Bytes on the disk per task after a clean close; and the time of the close, in ms. */
export async function fillFolder(folder: string, tasks: number): Promise<Figures> {
  const { loom, job } = await open(folder);
  for (let at = 0; at < tasks; at += BATCH) {
    const payloads = Array.from({ length: BATCH }, (_, nth) => ownPayload(at + nth));
    await loom.enqueueMany(job, payloads, { user: `user-${(at / BATCH) % USERS}` });
  }
  const closing = performance.now();
  await loom.close();
  const closeMs = performance.now() - closing;
  return { diskBytes: bytesIn(folder) / tasks, closeMs };
}

/** Time from the call to the answer, in ms; and the growth of the heap per task. */
export async function openFolder(folder: string, tasks: number): Promise<Figures> {
  const { loom } = await open(folder);
  const before = heapBytes();
  const opening = performance.now();
  await loom.health();
  const openMs = performance.now() - opening;
  const heapPerTask = (heapBytes() - before) / tasks;
  await loom.close();
  return { openMs, heapPerTask };
}

export async function open(folder: string) {
  const [{ Fairloom, task }, { file }] = await Promise.all([loadFairloom(), loadFairloomFile()]);
  const job = task(JOB, async (_payload: Payload) => {});
  return { loom: new Fairloom({ backend: file(folder), tasks: [job], log: ERRORS }), job };
}

/** 100 bytes of JSON that no other task shares. */
function ownPayload(nth: number): Payload {
  return { d: String(nth).padStart(92, 'x') };
}

function bytesIn(folder: string): number {
  const names = readdirSync(folder);
  return names.reduce((sum, name) => sum + statSync(`${folder}/${name}`).size, 0);
}

function heapBytes(): number {
  if (globalThis.gc === undefined) throw new Error('needs --expose-gc');
  globalThis.gc();
  globalThis.gc();
  return process.memoryUsage().heapUsed;
}
