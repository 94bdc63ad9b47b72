import { BackendUnsupportedError } from '../../../domain/errors/errors.ts';

/**
 * Loads code that depends on `ioredis`, which is an optional package.
 *
 * @throws `BackendUnsupportedError` when the package is not installed.
 */
export async function withIoredis<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (cause) {
    if (!String(cause).includes('ioredis')) throw cause;
    const problem = 'Redis needs the package ioredis: npm install ioredis';
    throw new BackendUnsupportedError(problem, { cause });
  }
}
