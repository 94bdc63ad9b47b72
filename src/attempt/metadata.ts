/** Metadata for handlers and readers. It is stored in a channel with a name that callers cannot use. */
import { decodeJson, encodeJson } from '../base/json.ts';
import { InvalidPayloadError } from '../domain/errors/errors.ts';
import { checkId } from '../domain/fairness/names.ts';
import { LIMITS } from '../domain/limits.ts';
import type { RunMetadata } from '../workflow/metadata.ts';
import { type ChannelStore, shownValue } from './channels.ts';

/** Prefix of its fields. */
const METADATA = '~metadata:';

type Fields = Readonly<Record<string, string>>;

/** Metadata of the run of one attempt. */
export class HandlerMetadata implements RunMetadata {
  readonly #store: ChannelStore;

  constructor(store: ChannelStore) {
    this.#store = store;
  }

  async get(key: string): Promise<unknown> {
    const text = await this.#store.read(fieldOf(key));
    return text === undefined ? undefined : decodeJson(text);
  }

  async set(key: string, value: unknown): Promise<void> {
    const field = fieldOf(key);
    const encoded = encodeJson(value, LIMITS.metadataBytes);
    if (value === undefined || !encoded.ok) {
      const [path, problem] = encoded.ok
        ? ['$', 'undefined has no JSON form']
        : [encoded.path, encoded.problem];
      throw new InvalidPayloadError(path, `${problem} (metadata, key ${JSON.stringify(key)})`);
    }
    await this.#store.write({ type: 'set', field, text: encoded.text });
  }

  async delete(key: string): Promise<void> {
    await this.#store.write({ type: 'delete', field: fieldOf(key) });
  }
}

/** The metadata in a run's fields, if any. An unreadable value is shown by the id of its key. */
export function metadataIn(fields: Fields): {
  readonly metadata?: Readonly<Record<string, unknown>>;
} {
  const own = Object.keys(fields).filter(isMetadata).sort();
  if (own.length === 0) return {};
  const values = own.map((field) => [
    field.slice(METADATA.length),
    shownValue(fields[field] ?? 'null'),
  ]);
  return { metadata: Object.fromEntries(values) };
}

/** The values of channels without metadata. */
export function withoutMetadata(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([field]) => !isMetadata(field)));
}

function isMetadata(field: string): boolean {
  return field.startsWith(METADATA);
}

function fieldOf(key: unknown): string {
  return `${METADATA}${checkId('metadata key', key)}`;
}
