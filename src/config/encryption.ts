/** Codec with the configured keys. */
import { readFileSync } from 'node:fs';
import { messageOf } from '../base/message-of.ts';
import { encrypted } from '../codec/encrypted.ts';
import { KEYS_FORM, keysIn } from '../codec/key-text.ts';
import type { Codec } from '../codec/sealed-codec.ts';
import { ConfigError } from '../domain/errors/errors.ts';
import type { EncryptionConfig } from './config-types.ts';

/** @throws {@link ConfigError} when a file cannot be read, or has no keys. */
export function codecOf({ keys, keysFile, acceptUnencrypted }: EncryptionConfig): Codec {
  const text = keysFile === undefined ? keys?.reveal() : contentsOf(keysFile);
  try {
    return encrypted({ keys: keysIn(text), acceptUnencrypted });
  } catch {
    throw refused(KEYS_FORM, keysFile ?? 'something else');
  }
}

function contentsOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw refused('a file that can be read', `${file} (${messageOf(error)})`);
  }
}

function refused(expected: string, got: string): ConfigError {
  const path = 'encryption.keysFile';
  return new ConfigError([{ path, expected, got, source: 'configuration' }]);
}
