/**
 * What the programs of threads and processes share. `scripts/generate/programs.ts` makes text of them, so that they
 * need no file of their own under any bundler or loader. They import what the definition named, and nothing
 * that came with a task. Nothing here may import a package or a built-in module: the text must be a script and
 * a module alike, whichever a flag of Node takes it for.
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

/** Runs one task and says how it ended. Never rejects. */
export async function answer(request: HostRequest, ctx: object, post: Post): Promise<void> {
  // Like the signal it is no data: a handler that returns its context returns the rest.
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

/** Field by field: what cannot cross costs no other, and errors stay errors. */
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
