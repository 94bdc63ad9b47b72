import { closeSync, openSync, readSync } from 'node:fs';
import { LIMITS } from '../domain/limits.ts';
import type { Problems } from './problems.ts';
import type { SourceFile } from './yaml-file.ts';

/** Reads a text file up to a size; `undefined` when that fails. */
export function readSource(name: string, problems: Problems): SourceFile | undefined {
  const complain = (expected: string, got: string): undefined => {
    problems.add({
      path: '',
      origin: { from: 'file', file: name, line: 1, column: 1 },
      expected,
      got,
    });
  };
  let bytes: Uint8Array;
  try {
    bytes = firstBytes(name, LIMITS.configBytes + 1);
  } catch (error) {
    return complain('a file that can be read', codeOf(error));
  }
  if (bytes.length > LIMITS.configBytes) {
    return complain(`at most ${LIMITS.configBytes} bytes`, 'more');
  }
  try {
    return { name, text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch {
    return complain('UTF-8', 'other bytes');
  }
}

/** Bounded, since a device may be endless. */
function firstBytes(name: string, most: number): Uint8Array {
  const bytes = new Uint8Array(most);
  const file = openSync(name, 'r');
  try {
    let length = 0;
    while (length < most) {
      const count = readSync(file, bytes, length, most - length, null);
      if (count === 0) break;
      length += count;
    }
    return bytes.subarray(0, length);
  } finally {
    closeSync(file);
  }
}

function codeOf(error: unknown): string {
  const code = typeof error === 'object' && error !== null ? Reflect.get(error, 'code') : error;
  if (code === 'ENOENT') return 'none of that name';
  return code === 'EISDIR' ? 'a folder' : String(code);
}
