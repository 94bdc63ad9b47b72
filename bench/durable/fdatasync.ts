import { closeSync, fdatasyncSync, fsyncSync, openSync, writeSync } from 'node:fs';
import type { DurableQueue } from './queue.ts';

/** About the length of one task of the bench in the log. */
const RECORD_BYTES = 300;
const FILE_BYTES = 33_554_432;

/** The speed of the disk: writes a record into a preallocated file, and syncs it. */
export function openFile(folder: string): DurableQueue {
  const file = openSync(`${folder}/records`, 'w');
  writeSync(file, Buffer.alloc(FILE_BYTES));
  fsyncSync(file);
  const record = Buffer.alloc(RECORD_BYTES, 'x');
  let at = 0;
  return {
    add: async () => {
      at += writeSync(file, record, 0, RECORD_BYTES, at % (FILE_BYTES - RECORD_BYTES));
      fdatasyncSync(file);
    },
    addMany: () => Promise.reject(new Error('one by one only')),
    work: () => Promise.reject(new Error('it works nothing off')),
    close: async () => closeSync(file),
  };
}
