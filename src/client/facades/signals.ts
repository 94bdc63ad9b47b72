import type { SharedBackend } from '../../backends/shared-backend.ts';
import type { ValueCodec } from '../../codec/codec.ts';
import {
  SignalLimitError,
  TaskNotFoundError,
  WrongStateError,
} from '../../domain/errors/errors.ts';
import { checkOptions, keysOf, type OptionKeys } from '../../domain/errors/options.ts';
import { checkId } from '../../domain/fairness/names.ts';
import { signalOf } from '../../workflow/signal.ts';
import { checkedBy } from '../../workflow/standard-schema.ts';

/** Options of a signal. */
export interface SignalOptions {
  /** Id of the signal, a text of 1–128 bytes: a repeated id changes nothing. */
  readonly signalId?: string | undefined;
}

const KEYS: OptionKeys<SignalOptions> = keysOf<SignalOptions>()({ signalId: true });

/**
 * Result of a signal. `delivered`: it ended a wait. `buffered`: it is kept for the next one.
 * `repeated`: its id was sent before.
 */
export type SignalOutcome = 'delivered' | 'buffered' | 'repeated';

/** Sends a signal; see `Fairloom.signal`. */
export async function sendSignal(
  { connection, codec }: { readonly connection: SharedBackend; readonly codec: ValueCodec },
  id: string,
  call: { readonly what: unknown; readonly payload: unknown; readonly options: SignalOptions },
): Promise<SignalOutcome> {
  const { what, payload, options } = call;
  checkOptions('signal', options, KEYS);
  checkId('id', id);
  const { name, schema } = signalOf(what);
  const { signalId } = options;
  if (signalId !== undefined) checkId('signalId', signalId);
  await checkedBy(`signal ${name}`, schema, payload);
  const text = codec.payload(`signal ${name}`, payload);
  const backend = await connection.open();
  const reply = await backend.waits.signal(id, { name, payload: text, signalId });
  switch (reply.kind) {
    case 'not-found':
      throw new TaskNotFoundError(id);
    case 'ended':
      throw new WrongStateError('signal', id, reply.state);
    case 'full':
      throw new SignalLimitError(id, reply.limit);
    default:
      return reply.kind;
  }
}
