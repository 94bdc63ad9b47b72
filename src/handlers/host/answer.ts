/**
 * Shared code of the programs of threads and processes. `scripts/generate/programs.ts` makes text of the programs,
 * so that they need no file of their own under any bundler or loader. They import the module of the definition,
 * never one that a task names. Nothing here may import a package or a built-in module: the text must be valid as a
 * script and as a module, since flags of Node choose between these.
 */

import { asData, fieldsOf, isError, putField, textOf } from '../../base/as-data.ts';
import type { LogFields, Logger } from '../../base/logger.ts';
import { messageOf } from '../../base/message-of.ts';
import { errorSaying, type TaskError, thrownOf } from '../../base/thrown.ts';
import type {
  HostFailure,
  HostLine,
  HostMessage,
  HostReply,
  HostRequest,
} from '../host-messages.ts';

type Post = (message: HostMessage) => void;

/** Runs one task and returns how it ended. Never rejects. */
export async function answer(request: HostRequest, ctx: object, post: Post): Promise<void> {
  // Not enumerable, as the signal: a handler that returns its context returns only data.
  Object.defineProperty(ctx, 'log', { value: loggerOf(post) });
  const reply = await replyTo(request, ctx);
  try {
    post(reply);
  } catch (error) {
    post({ kind: 'unsendable', message: messageOf(error) });
  }
}

async function replyTo(request: HostRequest, ctx: object): Promise<HostReply> {
  let handler: (input: unknown, ctx: object) => unknown;
  try {
    handler = await handlerOf(request);
  } catch (error) {
    return { ...failureOf(error), isUnloaded: true };
  }
  try {
    return { kind: 'returned', value: await handler(request.input, ctx) };
  } catch (error) {
    return failureOf(error);
  }
}

async function handlerOf({
  url,
  exportName,
}: HostRequest): Promise<(input: unknown, ctx: object) => unknown> {
  const handler: unknown = Reflect.get(await import(url), exportName);
  if (typeof handler === 'function') return (input, ctx) => handler(input, ctx);
  throw errorSaying(`${url} has no function named ${exportName}`, 'TypeError');
}

function failureOf(thrown: unknown): HostFailure {
  return { kind: 'threw', error: thrownOf(thrown) };
}

function loggerOf(post: Post): Logger {
  const line = (level: keyof Logger) => (message: string, fields?: LogFields) =>
    post({ kind: 'log', level, message: textOf(message), ...crossing(fields) });
  return { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') };
}

/** Field by field: a field that cannot be sent does not affect others, and errors stay errors. */
function crossing(given: LogFields | undefined): Pick<HostLine, 'fields' | 'errors'> {
  if (given === undefined) return {};
  const fields: Record<string, unknown> = {};
  const errors: Record<string, TaskError> = {};
  for (const [key, value] of fieldsOf(given)) {
    if (isError(value)) putField(errors, key, thrownOf(value));
    else putField(fields, key, asData(value));
  }
  return { fields, errors };
}
